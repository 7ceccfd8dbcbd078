// Keys go to the terminal from the start: without this a person would have to click first.
new MutationObserver((changes, observer) => {
  const keys = document.querySelector("#terminal textarea");
  if (keys !== null) {
    observer.disconnect();
    keys.focus();
  }
}).observe(document, { childList: true, subtree: true });
