/* Submits the page's form once the user sees the page: a prerendered page or a tab in the background must not use up a link. */

function submitIfVisible() {
  if (document.visibilityState !== 'visible') return;
  document.removeEventListener('visibilitychange', submitIfVisible);
  document.querySelector('form').requestSubmit();
}

document.addEventListener('visibilitychange', submitIfVisible);
submitIfVisible();
