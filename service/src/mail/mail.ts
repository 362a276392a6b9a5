/** A mail as the service writes it: plain text, links spelled out. */
export type Mail = { to: string; subject: string; text: string };

/** The port to the world's mail. Rejects when the mail was not taken; then it is tried again. */
export type Mailer = {
  /** `id` stays the same when a mail is tried again, so that a second copy can be known as one. */
  send(id: string, mail: Mail): Promise<void>;
  close(): void;
};
