import type { Catalogue } from './catalogue.ts';

const NOT_YOU = 'If this wasn’t you, you can ignore this email.';

const date = (time: number) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
const dateTime = (time: number) =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(time)} (UTC)`;

export const en: Catalogue = {
  unsubscribe: 'Turn off emails like this',
  messages: {
    confirm_email: ({ url }) => ({
      subject: 'Confirm your email address',
      before: ['Welcome to Causeway.', 'Confirm your email address to finish creating your account.'],
      link: { label: 'Confirm email', url },
      after: [
        'This link works once and expires in 24 hours.',
        'If you didn’t sign up, you can ignore this email. No account will be created.',
      ],
    }),
    known_address: ({ url, forgotUrl }) => ({
      subject: 'You already have an account',
      before: [
        'Someone, probably you, tried to create an account with this email address. You already have one.',
      ],
      link: { label: 'Sign in', url },
      after: [`Forgot your password? Set a new one: ${forgotUrl}`, NOT_YOU],
    }),
    reset_password: ({ url }) => ({
      subject: 'Set a new password',
      before: ['Set a new password for your account.'],
      link: { label: 'Set password', url },
      after: [
        'This link works once and expires in 1 hour. Setting a new password signs you out everywhere and disconnects all apps.',
        'If you didn’t ask for this, you can ignore this email. Your password stays the same.',
      ],
    }),
    unknown_address: ({ url }) => ({
      subject: 'There is no account with this email address',
      before: [
        'Someone, probably you, asked to reset a password, but there is no account with this email address.',
        'You may have signed up with a different address. You can also create an account.',
      ],
      link: { label: 'Create account', url },
      after: [NOT_YOU],
    }),
    password_changed: ({ url }) => ({
      subject: 'Your password was changed',
      before: [
        'Your password was changed. We signed you out everywhere and disconnected all apps.',
        'If this wasn’t you, set a new password now, then sign in and review your passkeys.',
      ],
      link: { label: 'Set password', url },
    }),
    passkey_added: ({ url }) => ({
      subject: 'A passkey was added to your account',
      before: [
        'A passkey was added to your account. It can be used to sign in without your password.',
        'If this wasn’t you, remove the passkey and change your password now.',
      ],
      link: { label: 'Your account', url },
    }),
    password_replaced: ({ url }) => ({
      subject: 'Your password was changed',
      before: [
        'You changed your password. We signed you out of every other browser.',
        'If this wasn’t you, set a new password now: that signs out every browser and disconnects all apps.',
      ],
      link: { label: 'Set password', url },
    }),
    second_factor_added: ({ url }) => ({
      subject: 'Two-step sign-in is on',
      before: [
        'From now on, signing in with your password also takes a code from your authenticator app.',
        'Keep your recovery codes in a safe place.',
        'If this wasn’t you, set a new password now: that signs out every browser and disconnects all apps. Then contact support, who can turn two-step sign-in off.',
      ],
      link: { label: 'Set password', url },
    }),
    second_factor_removed: ({ url }) => ({
      subject: 'Two-step sign-in is off',
      before: [
        'Signing in no longer takes a code from your authenticator app.',
        'If this wasn’t you, change your password and turn two-step sign-in on again now.',
      ],
      link: { label: 'Your account', url },
    }),
    confirm_new_address: ({ url }) => ({
      subject: 'Confirm your new email address',
      before: [
        'Confirm that you want to use this email address for your account. Open the link in a browser where you’re signed in.',
      ],
      link: { label: 'Confirm new address', url },
      after: ['This link works once and expires in 1 hour.', NOT_YOU],
    }),
    address_in_use: ({ url }) => ({
      subject: 'This email address already has an account',
      before: [
        'Someone, probably you, asked to use this email address for another account. This address already belongs to your account, so nothing changes.',
      ],
      link: { label: 'Your account', url },
      after: [NOT_YOU],
    }),
    address_change_requested: ({ url }) => ({
      subject: 'Your email address is about to change',
      before: [
        'You asked to change the email address of your account. It will change when you confirm the new address.',
        'If this wasn’t you, set a new password now: that stops the change and signs out every browser.',
      ],
      link: { label: 'Set password', url },
    }),
    address_changed: ({ url, email }) => ({
      subject: 'Your email address was changed',
      before: [
        `Your account now uses ${email}. We no longer send emails to your old address.`,
        'If this wasn’t you, contact support right away.',
      ],
      link: { label: 'Your account', url },
    }),
    account_deleted: ({ at }) => ({
      subject: 'Your account was deleted',
      before: [
        `We deleted your account on ${dateTime(at)} and disconnected all apps.`,
        'We keep only the records that the law requires, and nobody uses them for anything else.',
      ],
    }),
    wallet_disconnected: ({ url, wallet }) => ({
      subject: 'A wallet was disconnected from your account',
      before: [
        `Your wallet ${wallet} was disconnected from your account, because another account has proven that it owns this wallet.`,
        'If the wallet is yours, connect it again in the app. If you did not expect this, someone else may know your wallet’s key: move your assets to a new wallet.',
      ],
      link: { label: 'Your account', url },
    }),
    signed_in: ({ url, at }) => ({
      subject: 'New sign-in to your account',
      before: [
        `Your account was used in a new browser on ${dateTime(at)}.`,
        'If this was you, there is nothing to do. If it wasn’t, set a new password now: that signs out every browser.',
      ],
      link: { label: 'Set password', url },
    }),
    review_approved: ({ url, isAccreditation }) => ({
      subject: isAccreditation ? 'Your accreditation is confirmed' : 'Your identity is verified',
      before: [
        isAccreditation ? 'We have confirmed your accreditation.' : 'We have verified your identity.',
        'You can go back to your app and continue.',
      ],
      link: { label: 'Your account', url },
    }),
    review_action_needed: ({ url, isAccreditation }) => ({
      subject: isAccreditation
        ? 'Your accreditation needs your attention'
        : 'Your identity check needs your attention',
      before: ['We need something more from you before we can finish. Open your app to see what is missing.'],
      link: { label: 'Your account', url },
    }),
    review_rejected: ({ url, isAccreditation }) => ({
      subject: isAccreditation ? 'Your accreditation was not confirmed' : 'Your identity was not verified',
      before: [
        isAccreditation ? 'We could not confirm your accreditation.' : 'We could not verify your identity.',
        'If you have questions, contact support.',
      ],
      link: { label: 'Your account', url },
    }),
    participation_pending: ({ url, offer, partner, amount, asset }) => ({
      subject: `Your investment in ${offer} was accepted`,
      before: [
        `We accepted your investment of ${amount} ${asset} in ${offer} with ${partner}. Your money stays in your wallet until the sale takes it.`,
        'We’ll email you when the investment is complete.',
      ],
      link: { label: 'Your account', url },
    }),
    participation_completed: ({ url, offer, partner, amount, asset }) => ({
      subject: `Your investment in ${offer} is complete`,
      before: [`Your investment of ${amount} ${asset} in ${offer} with ${partner} is complete.`],
      link: { label: 'Your account', url },
    }),
    participation_failed: ({ url, offer, partner, amount, asset }) => ({
      subject: `Your investment in ${offer} did not go through`,
      before: [
        `Your investment of ${amount} ${asset} in ${offer} with ${partner} did not go through. No money was taken.`,
        'You can try again in your app.',
      ],
      link: { label: 'Your account', url },
    }),
    participation_remitted: ({ url, offer, partner, amount, asset }) => ({
      subject: `Your investment in ${offer} was refunded`,
      before: [
        `We refunded your investment of ${amount} ${asset} in ${offer} with ${partner}. The money is back in your wallet.`,
      ],
      link: { label: 'Your account', url },
    }),
    form_to_sign: ({ url, until }) => ({
      subject: 'A tax form is waiting for your signature',
      before: [
        `A tax form is ready for you to sign. The link is in a separate email from our signing provider and works until ${date(until)}.`,
      ],
      link: { label: 'Your account', url },
    }),
    form_link_expiring: ({ url, until }) => ({
      subject: 'Your tax form is not signed yet',
      before: [
        `The link to sign your tax form works until ${date(until)}. After that, you have to start again in your app.`,
      ],
      link: { label: 'Your account', url },
    }),
    form_expiring: ({ url, until }) => ({
      subject: 'Your tax form expires soon',
      before: [`Your signed tax form is valid until ${date(until)}. Open your app to sign a new one.`],
      link: { label: 'Your account', url },
    }),
    accreditation_expiring: ({ url, until }) => ({
      subject: 'Your accreditation expires soon',
      before: [`Your accreditation is valid until ${date(until)}. Open your app to renew it.`],
      link: { label: 'Your account', url },
    }),
  },
};
