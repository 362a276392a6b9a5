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

/** Paragraphs before and after an optional link. */
export type Message = {
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
