/** A mail. `html` and `text` have the same content. `text` contains the URL of each link. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
};

/** The interface to a mail server. */
export type Mailer = {
  /**
   * Sends a mail. Rejects if the server did not accept it. `id` is the same on every attempt, so that
   * recipients can drop duplicates.
   */
  send(id: string, mail: Mail): Promise<void>;
  close(): void;
};
