type Linked = { url: string };
type Investment = Linked & { offer: string; partner: string; amount: string; asset: string };
type Review = Linked & { isAccreditation: boolean };
type Expiring = Linked & { until: number };

/** The mails to users, with the values that each mail needs. Times are epoch milliseconds. */
export type MessageValues = {
  confirm_email: Linked;
  known_address: Linked & { forgotUrl: string };
  reset_password: Linked;
  unknown_address: Linked;
  password_changed: Linked;
  password_replaced: Linked;
  passkey_added: Linked;
  second_factor_added: Linked;
  second_factor_removed: Linked;
  confirm_new_address: Linked;
  address_in_use: Linked;
  address_change_requested: Linked;
  address_changed: Linked & { email: string };
  account_deleted: { at: number };
  wallet_disconnected: Linked & { wallet: string };
  signed_in: Linked & { at: number };
  review_approved: Review;
  review_action_needed: Review;
  review_rejected: Review;
  participation_pending: Investment;
  participation_completed: Investment;
  participation_failed: Investment;
  participation_remitted: Investment;
  form_to_sign: Expiring;
  form_link_expiring: Expiring;
  form_expiring: Expiring;
  accreditation_expiring: Expiring;
};
export type MessageName = keyof MessageValues;

type Message = {
  subject: string;
  before: string[];
  link?: { label: string; url: string };
  after?: string[];
};

/** All messages in one language. If a message is missing, the code does not compile. */
export type Catalogue = {
  messages: { [N in MessageName]: (values: MessageValues[N]) => Message };
  unsubscribe: string;
};

/** The languages that mails are written in. The first is the default. */
export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];

export function parseLocale(text: string | null | undefined): Locale | null {
  return LOCALES.find((locale) => locale === text) ?? null;
}

/** Returns the mail language that the browser prefers (RFC 9110, section 12.5.4). */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  const wanted = (acceptLanguage ?? '').split(',').map((range) => {
    const [tag = '', ...parameters] = range.trim().toLowerCase().split(';');
    const weight = parameters.map((parameter) => /^\s*q=([\d.]+)$/.exec(parameter)?.[1]).find(Boolean);
    return { locale: parseLocale(tag.split('-')[0]), weight: Number(weight ?? 1) };
  });
  const [best] = wanted
    .filter(({ locale, weight }) => locale !== null && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return best?.locale ?? LOCALES[0];
}
