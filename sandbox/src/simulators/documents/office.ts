import { randomBytes } from 'node:crypto';
import type { JsonFile } from '../json-file.ts';
import type { WebhookSender } from '../webhook-sender.ts';
import {
  type SigningState,
  type Submission,
  submissionStatus,
  submissionToWire,
  submitterToWire,
  TEMPLATES,
} from './submission.ts';

/** Everything that happens to submissions, with the mails and webhooks that follow from it. */
export type Office = {
  state: SigningState;
  now(): number;
  host(): string;
  create(
    input: Pick<Submission, 'template_id' | 'email' | 'external_id' | 'values' | 'expire_at'>,
  ): Promise<Submission>;
  /** Nothing is sent for a form that is over, and nobody is told. */
  mail(submission: Submission): void;
  isOpen(submission: Submission): boolean;
  view(submission: Submission): Promise<boolean>;
  sign(submission: Submission, values: Record<string, string>): Promise<boolean>;
  decline(submission: Submission, reason: string): Promise<boolean>;
  expire(submission: Submission): Promise<boolean>;
  archive(submission: Submission): Promise<boolean>;
  tell(submission: Submission, eventType: string): Promise<boolean>;
  save(): Promise<void>;
};

const MAX_MAILS = 500;

export function createOffice(
  file: JsonFile<SigningState>,
  sender: WebhookSender,
  now: () => number,
  host: () => string,
): Office {
  const { data: state } = file;
  const time = () => new Date(now()).toISOString();

  const tell: Office['tell'] = (submission, event_type) => {
    const data = event_type.startsWith('form.')
      ? {
          ...submitterToWire(submission, host()),
          decline_reason: submission.decline_reason,
          template: { id: submission.template_id },
          submission: { id: submission.id, status: submissionStatus(submission, now()) },
        }
      : submissionToWire(submission, host(), now());
    return sender.send(JSON.stringify({ event_type, timestamp: time(), data }));
  };
  const mail: Office['mail'] = (submission) => {
    if (submission.email === null || !isOpen(submission)) return;
    submission.sent_at ??= time();
    state.mails.push({
      to: submission.email,
      subject: `You are invited to sign ${TEMPLATES[submission.template_id] ?? 'a form'}`,
      link: `${host()}/s/${submission.slug}`,
      submission_id: submission.id,
      at: time(),
    });
    state.mails.splice(0, state.mails.length - MAX_MAILS);
  };
  const isOpen: Office['isOpen'] = (one) =>
    one.archived_at === null && submissionStatus(one, now()) === 'pending';
  const change = async (submission: Submission, changes: Partial<Submission>, events: string[]) => {
    Object.assign(submission, changes);
    await file.save();
    const told: boolean[] = [];
    for (const event of events) told.push(await tell(submission, event));
    return told.every(Boolean);
  };

  return {
    state,
    now,
    host,
    mail,
    isOpen,
    tell,
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
    view: (submission) => change(submission, { opened_at: submission.opened_at ?? time() }, ['form.viewed']),
    sign: (submission, values) =>
      change(
        submission,
        {
          values: { ...submission.values, ...values },
          opened_at: submission.opened_at ?? time(),
          completed_at: time(),
        },
        ['form.completed', 'submission.completed'],
      ),
    decline: (submission, reason) =>
      change(submission, { declined_at: time(), decline_reason: reason }, ['form.declined']),
    expire: (submission) => change(submission, { expire_at: time() }, ['submission.expired']),
    archive: (submission) =>
      change(submission, { archived_at: submission.archived_at ?? time() }, ['submission.archived']),
  };
}
