/** For each limit: its default in requests per minute, and a description of the requests that it counts. */
export const LIMITS = {
  api: [1200, 'All requests from one caller: a partner, or one of its users.'],
  kyc_token: [30, 'Identity verification tokens per caller.'],
  documents: [10, 'Document submissions per caller.'],
  tokenized_transaction: [30, 'Tokenized swap transactions per caller.'],
  wallet_ownership: [60, 'Wallet challenges per caller.'],
  oauth_token: [120, 'Token requests per client.'],
  authorize: [300, 'Sign-ins started by apps, per network address.'],
  introspection: [60, 'Introspection requests without client credentials, per network address.'],
  failed_authentication: [
    1200,
    'Requests with an unknown token or client secret, per network address and node.',
  ],
  webhook_test: [10, 'Webhook test events per partner.'],
  sign_in: [10, 'Sign-in attempts per account.'],
  account_mail: [3, 'Mails per recipient.'],
  audit: [600, 'Requests for checkpoints and tiles of the audit log, per network address.'],
  account_forms: [60, 'Form posts per network address.'],
} as const;

export type LimitName = keyof typeof LIMITS;

export const LIMIT_NAMES = Object.keys(LIMITS) as LimitName[];
