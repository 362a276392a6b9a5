/** A native dialog around somebody else's flow; resolves when it is closed. */
export function openIdentityDialog(
  signal: AbortSignal,
  fill: (place: HTMLElement) => (() => void) | undefined,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const dialog = document.createElement('dialog');
  dialog.className = 'cw cw-dialog cw-identity-dialog';
  dialog.setAttribute('aria-label', 'Identity verification');
  const bar = document.createElement('div');
  bar.className = 'cw-dialog-head';
  const title = document.createElement('h2');
  title.className = 'cw-dialog-title';
  title.textContent = 'Identity verification';
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'cw-button cw-button-quiet';
  close.textContent = 'Close';
  close.onclick = () => dialog.close();
  bar.append(title, close);
  const place = document.createElement('div');
  place.className = 'cw-identity-place';
  dialog.append(bar, place);
  document.body.append(dialog);
  const stop = () => dialog.close();
  signal.addEventListener('abort', stop, { once: true });
  return new Promise((done) => {
    let clean: (() => void) | undefined;
    dialog.addEventListener('close', () => {
      signal.removeEventListener('abort', stop);
      clean?.();
      dialog.remove();
      done();
    });
    dialog.showModal();
    clean = fill(place);
  });
}
