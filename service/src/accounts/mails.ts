import type { Context } from '../context.ts';
import type { Mail } from '../mail/mail.ts';

const SIGNATURE = '\n\nCauseway';

export function confirmMail({ baseUrl }: Context, to: string, secret: string): Mail {
  const text = `Welcome to Causeway.

Confirm your e-mail address with this link; it works once, within 24 hours:

${baseUrl}/confirm?token=${secret}

If you did not create an account, ignore this mail: without the link, nothing happens.`;
  return { to, subject: 'Confirm your e-mail address', text: text + SIGNATURE };
}

export function knownAddressMail({ baseUrl }: Context, to: string): Mail {
  const text = `Somebody, probably you, tried to create an account with this address. You already have one.

Sign in:
${baseUrl}/sign-in

If you have forgotten your password, set a new one:
${baseUrl}/forgot

If it was not you, ignore this mail.`;
  return { to, subject: 'You already have an account', text: text + SIGNATURE };
}

export function resetMail({ baseUrl }: Context, to: string, secret: string): Mail {
  const text = `Set a new password with this link; it works once, within an hour:

${baseUrl}/reset?token=${secret}

A new password signs you out everywhere and disconnects all apps.

If you did not ask for this, ignore this mail: your password stays as it is.`;
  return { to, subject: 'Set a new password', text: text + SIGNATURE };
}

export function unknownAddressMail({ baseUrl }: Context, to: string): Mail {
  const text = `Somebody, probably you, asked for a new password, but there is no account with this address.

You may have used another address, or you can create an account:
${baseUrl}/register

If it was not you, ignore this mail.`;
  return { to, subject: 'There is no account with this address', text: text + SIGNATURE };
}

export function passwordChangedMail({ baseUrl }: Context, to: string): Mail {
  const text = `Your password was changed, you were signed out everywhere, and all apps were disconnected.

If it was not you, set a new password at once and look at your passkeys:
${baseUrl}/forgot`;
  return { to, subject: 'Your password was changed', text: text + SIGNATURE };
}

export function passkeyAddedMail({ baseUrl }: Context, to: string): Mail {
  const text = `A passkey was added to your account. It signs you in without your password.

If it was not you, remove it and set a new password at once:
${baseUrl}/account`;
  return { to, subject: 'A passkey was added to your account', text: text + SIGNATURE };
}
