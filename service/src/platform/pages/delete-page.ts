import { html } from '../../kernel/html.ts';
import { hiddenField, notice } from './fields.ts';
import { ART } from './icons.ts';
import type { Page } from './layout.ts';

/**
 * The messages that say why the account cannot be deleted now. The message for `restricted` gives no reason, because
 * users must not learn why they are restricted.
 */
const BLOCKS = {
  open_participations:
    'You have an investment or a refund in progress. You can delete your account once it’s final. We’ll email you about the outcome.',
  live_orders:
    'You have an open order. You can delete your account once it has been executed or has expired.',
  allowed_wallets:
    'Your wallet is on an offer’s allow-list. We’re removing it from the list. Try again in a few minutes.',
  restricted: 'Your account can’t be deleted right now. Contact support.',
} as const;

type DeleteState = { csrf: string; email: string; block: keyof typeof BLOCKS | null; problem?: string };

export function deletePage({ csrf, email, block, problem }: DeleteState): Page {
  if (block !== null)
    return {
      title: 'You can’t delete your account yet',
      body: html`${ART.wait}<h1>You can’t delete your account yet</h1>
<p class="lead">${BLOCKS[block]}</p>
<a class="button quiet" href="/account">Back to your account</a>`,
    };
  return {
    title: 'Delete your account',
    body: html`<h1>Delete your account</h1>
<p class="lead">You’re about to delete <strong>${email}</strong>. This can’t be undone.</p>
${notice(problem, true)}
<ul class="points">
<li>You won’t be able to sign in, and all apps are disconnected.</li>
<li>Tokens in your wallet stay yours.</li>
<li>We delete your personal data. Records that the law requires, such as your investments and identity checks, are locked and deleted when their retention ends.</li>
</ul>
<form method="post" action="/account/delete">${hiddenField('csrf', csrf)}
<label class="choice"><input type="checkbox" name="confirm" value="yes" required>I want to delete my account</label>
<div class="pair more"><a class="button quiet" href="/account">Cancel</a><button class="solid-danger" type="submit">Delete account</button></div>
</form>`,
  };
}
