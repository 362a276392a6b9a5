import { randomBytes } from 'node:crypto';
import type { JsonFile } from '../json-file.ts';
import type { WebhookSender } from '../webhook-sender.ts';
import {
  type DocumentsState,
  type Submission,
  submissionStatus,
  submissionToWire,
  submitterToWire,
  TEMPLATES,
} from './submission.ts';

/**
 * Changes submissions, and sends the resulting mail and webhooks. Each `Promise<boolean>` resolves to true if every
 * webhook was accepted at the first attempt (see `WebhookSender.send`).
 */
export type Submissions = {
  state: DocumentsState;
  now(): number;
  baseUrl(): string;
  create(
    input: Pick<Submission, 'template_id' | 'email' | 'external_id' | 'values' | 'expire_at'>,
  ): Promise<Submission>;
  /** Mails the signing link if the submission is still open. */
  sendMail(submission: Submission): void;
  isOpen(submission: Submission): boolean;
  view(submission: Submission): Promise<boolean>;
  sign(submission: Submission, values: Record<string, string>): Promise<boolean>;
  decline(submission: Submission, reason: string): Promise<boolean>;
  expire(submission: Submission): Promise<boolean>;
  archive(submission: Submission): Promise<boolean>;
  notify(submission: Submission, eventType: string): Promise<boolean>;
  save(): Promise<void>;
};

const MAX_MAILS = 500;

export function createSubmissions(
  file: JsonFile<DocumentsState>,
  sender: WebhookSender,
  now: () => number,
  baseUrl: () => string,
): Submissions {
  const { data: state } = file;
  const time = () => new Date(now()).toISOString();

  const notify: Submissions['notify'] = (submission, event_type) => {
    const data = event_type.startsWith('form.')
      ? {
          ...submitterToWire(submission, baseUrl()),
          decline_reason: submission.decline_reason,
          template: { id: submission.template_id },
          submission: { id: submission.id, status: submissionStatus(submission, now()) },
        }
      : submissionToWire(submission, baseUrl(), now());
    return sender.send(JSON.stringify({ event_type, timestamp: time(), data }));
  };
  const sendMail: Submissions['sendMail'] = (submission) => {
    if (submission.email === null || !isOpen(submission)) return;
    submission.sent_at ??= time();
    state.mails.push({
      to: submission.email,
      subject: `You are invited to sign ${TEMPLATES[submission.template_id] ?? 'a form'}`,
      link: `${baseUrl()}/s/${submission.slug}`,
      submission_id: submission.id,
      at: time(),
    });
    state.mails.splice(0, state.mails.length - MAX_MAILS);
  };
  const isOpen: Submissions['isOpen'] = (submission) =>
    submission.archived_at === null && submissionStatus(submission, now()) === 'pending';
  const update = async (submission: Submission, changes: Partial<Submission>, events: string[]) => {
    Object.assign(submission, changes);
    await file.save();
    const accepted: boolean[] = [];
    for (const event of events) accepted.push(await notify(submission, event));
    return accepted.every(Boolean);
  };

  return {
    state,
    now,
    baseUrl,
    sendMail,
    isOpen,
    notify,
    save: file.save,
    create: async (input) => {
      const id = state.next_id;
      state.next_id += 2;
      const submission: Submission = {
        ...input,
        id,
        submitter_id: id + 1,
        slug: randomBytes(10).toString('base64url'),
        created_at: time(),
        archived_at: null,
        sent_at: null,
        opened_at: null,
        completed_at: null,
        declined_at: null,
        decline_reason: null,
      };
      state.submissions.push(submission);
      await file.save();
      return submission;
    },
    view: (submission) => update(submission, { opened_at: submission.opened_at ?? time() }, ['form.viewed']),
    sign: (submission, values) =>
      update(
        submission,
        {
          values: { ...submission.values, ...values },
          opened_at: submission.opened_at ?? time(),
          completed_at: time(),
        },
        ['form.completed', 'submission.completed'],
      ),
    decline: (submission, reason) =>
      update(submission, { declined_at: time(), decline_reason: reason }, ['form.declined']),
    expire: (submission) => update(submission, { expire_at: time() }, ['submission.expired']),
    archive: (submission) =>
      update(submission, { archived_at: submission.archived_at ?? time() }, ['submission.archived']),
  };
}
