import type { Context } from '../context.ts';
import type { Mail } from '../mail/mail.ts';

const SIGNATURE = '\n\nCauseway';

export function confirmMail({ baseUrl }: Context, to: string, secret: string): Mail {
  const text = `Welcome to Causeway.

Confirm your email address to finish creating your account:

${baseUrl}/confirm?token=${secret}

This link works once and expires in 24 hours.

If you didn't sign up, you can ignore this email. No account will be created.`;
  return { to, subject: 'Confirm your email address', text: text + SIGNATURE };
}

export function knownAddressMail({ baseUrl }: Context, to: string): Mail {
  const text = `Someone, probably you, tried to create an account with this email address. You already have one.

Sign in:
${baseUrl}/sign-in

Forgot your password? Set a new one:
${baseUrl}/forgot

If this wasn't you, you can ignore this email.`;
  return { to, subject: 'You already have an account', text: text + SIGNATURE };
}

export function resetMail({ baseUrl }: Context, to: string, secret: string): Mail {
  const text = `Set a new password for your account:

${baseUrl}/reset?token=${secret}

This link works once and expires in 1 hour. Setting a new password signs you out everywhere and disconnects all apps.

If you didn't ask for this, you can ignore this email. Your password stays the same.`;
  return { to, subject: 'Set a new password', text: text + SIGNATURE };
}

export function unknownAddressMail({ baseUrl }: Context, to: string): Mail {
  const text = `Someone, probably you, asked to reset a password, but there is no account with this email address.

You may have signed up with a different address. You can also create an account:
${baseUrl}/register

If this wasn't you, you can ignore this email.`;
  return { to, subject: 'There is no account with this email address', text: text + SIGNATURE };
}

export function passwordChangedMail({ baseUrl }: Context, to: string): Mail {
  const text = `Your password was changed. We signed you out everywhere and disconnected all apps.

If this wasn't you, set a new password now, then sign in and review your passkeys:
${baseUrl}/forgot`;
  return { to, subject: 'Your password was changed', text: text + SIGNATURE };
}

export function passkeyAddedMail({ baseUrl }: Context, to: string): Mail {
  const text = `A passkey was added to your account. It can be used to sign in without your password.

If this wasn't you, remove the passkey and change your password now:
${baseUrl}/account`;
  return { to, subject: 'A passkey was added to your account', text: text + SIGNATURE };
}
