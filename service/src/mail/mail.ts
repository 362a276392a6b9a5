/** A mail; links are spelled out in the text. `html` shows the same as `text`. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
};

/** The port to a mail server. */
export type Mailer = {
  /** Rejects if the server did not accept the mail. `id` is the same on every attempt, so that recipients can drop duplicates. */
  send(id: string, mail: Mail): Promise<void>;
  close(): void;
};
