import type { KycLevel } from '../../wire.ts';
import { type Appearance, applyAppearance } from '../appearance.tsx';

/**
 * The dialog's texts and appearance. The dialog cannot get them from `CausewayProvider`, because the dialog is added to
 * the page outside the provider.
 */
export type IdentityDialog = { title: string; close: string; appearance: Appearance | undefined };

/** What `IdentityLauncher.open` receives besides the token. */
export type IdentityRequest = {
  level: KycLevel;
  /** Returns a new token. Call it if the first token expires during the flow. */
  refreshToken(): Promise<string>;
  /** Closes the flow when aborted. */
  signal: AbortSignal;
  dialog: IdentityDialog;
};

/** Shows the identity provider's flow; `open` resolves when the user leaves it, finished or not. */
export type IdentityLauncher = { open(token: string, request: IdentityRequest): Promise<void> };

/** Shows a third-party flow in a native dialog; resolves when the dialog closes. */
export function openIdentityDialog(
  signal: AbortSignal,
  { title: label, close: closeLabel, appearance }: IdentityDialog,
  render: (container: HTMLElement) => (() => void) | undefined,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const dialog = document.createElement('dialog');
  dialog.className = 'cw cw-dialog cw-identity-dialog';
  applyAppearance(dialog, appearance);
  dialog.setAttribute('aria-label', label);
  const bar = document.createElement('div');
  bar.className = 'cw-dialog-head';
  const title = document.createElement('h2');
  title.className = 'cw-dialog-title';
  title.textContent = label;
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'cw-button cw-button-quiet';
  close.textContent = closeLabel;
  close.onclick = () => dialog.close();
  bar.append(title, close);
  const container = document.createElement('div');
  container.className = 'cw-identity-container';
  dialog.append(bar, container);
  document.body.append(dialog);
  const abort = () => dialog.close();
  signal.addEventListener('abort', abort, { once: true });
  return new Promise((resolve) => {
    let cleanUp: (() => void) | undefined;
    dialog.addEventListener('close', () => {
      signal.removeEventListener('abort', abort);
      cleanUp?.();
      dialog.remove();
      resolve();
    });
    dialog.showModal();
    cleanUp = render(container);
  });
}
