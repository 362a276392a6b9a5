import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MailServer, startMailServer } from '@causeway/sandbox/simulators/mail-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConfigError, loadConfig } from '../src/kernel/config/config.ts';
import type { Mail, Mailer } from '../src/platform/mail/mail.ts';
import { sendMail, startMailWorker } from '../src/platform/mail/outbox.ts';
import { smtpMailer } from '../src/platform/mail/smtp.ts';
import { type TestApp, testApp } from './support/app.ts';

let app: TestApp;
let server: MailServer;
let dir: string;

beforeAll(async () => {
  app = await testApp();
  dir = await mkdtemp(join(tmpdir(), 'causeway-mail-'));
  server = await startMailServer(join(dir, 'mail.jsonl'));
});

afterAll(async () => {
  await server.stop();
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

const queued = async () =>
  Number((await app.ctx.pool.query('select count(*) as n from mail_outbox')).rows[0].n);
const makeDue = () => app.ctx.pool.query('update mail_outbox set next_attempt_at = now()');
const mailer = () => smtpMailer(server.smtpUrl, app.ctx.config.mailFrom, 'optional');
const MAIL: Mail = {
  to: 'someone@user.test',
  subject: 'Grüße',
  text: `Zeile eins: äöü\n\nhttps://causeway.test/confirm?token=${'x'.repeat(120)}\n.\n..zwei Punkte\n${'lang '.repeat(60)}\nEnde`,
};

function recorder(fails: (attempt: number) => boolean): Mailer & { sent: Mail[]; ids: string[] } {
  const sent: Mail[] = [];
  const ids: string[] = [];
  return {
    sent,
    ids,
    send: async (id, mail) => {
      ids.push(id);
      if (fails(ids.length)) throw new Error('the server is down');
      sent.push(mail);
    },
    close: () => {},
  };
}

test('a mail arrives over SMTP unchanged and leaves the outbox', async () => {
  const worker = await startMailWorker(app.ctx, mailer());
  await app.ctx.db.transaction().execute((tx) => sendMail(app.ctx, tx, MAIL));
  await expect.poll(queued).toBe(0);
  const { text, ...rest } = server.mails().at(-1) ?? {};
  expect(rest).toMatchObject({ to: MAIL.to, subject: MAIL.subject });
  expect(text?.trimEnd()).toBe(MAIL.text);
  await worker.stop();
});

test('a mail of a rolled-back transaction is never sent', async () => {
  const mailbox = recorder(() => false);
  const worker = await startMailWorker(app.ctx, mailbox);
  const failing = app.ctx.db.transaction().execute(async (tx) => {
    await sendMail(app.ctx, tx, MAIL);
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  await app.ctx.db.transaction().execute((tx) => sendMail(app.ctx, tx, { ...MAIL, subject: 'after' }));
  await expect.poll(queued).toBe(0);
  expect(mailbox.sent.map((mail) => mail.subject)).toEqual(['after']);
  await worker.stop();
});

test('another node sends the mails that a stopped node left in the outbox', async () => {
  await sendMail(app.ctx, app.ctx.db, MAIL);
  expect(await queued()).toBe(1);
  const worker = await startMailWorker(app.ctx, mailer());
  await expect.poll(queued).toBe(0);
  await worker.stop();
});

test('a failed mail is retried with the same id, and the log does not contain the recipient', async () => {
  const mailbox = recorder((attempt) => attempt === 1);
  const worker = await startMailWorker(app.ctx, mailbox);
  await sendMail(app.ctx, app.ctx.db, MAIL);
  await expect.poll(() => mailbox.ids.length).toBe(1);
  await sleep(50);
  expect(await queued()).toBe(1);
  await makeDue();
  await sendMail(app.ctx, app.ctx.db, { ...MAIL, subject: 'second' });
  await expect.poll(queued).toBe(0);
  expect(mailbox.ids[0]).toBe(mailbox.ids[1]);
  expect(mailbox.sent).toHaveLength(2);
  expect(app.logged()).toContain('sending mail failed');
  expect(app.logged()).not.toContain(MAIL.to);
  await worker.stop();
});

test('several nodes send each mail once', async () => {
  const nodes = [recorder(() => false), recorder(() => false), recorder(() => false)];
  const workers = await Promise.all(nodes.map((node) => startMailWorker(app.ctx, node)));
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => sendMail(app.ctx, app.ctx.db, { ...MAIL, subject: `mail ${i}` })),
  );
  await expect.poll(queued).toBe(0);
  const subjects = nodes.flatMap((node) => node.sent.map((mail) => mail.subject));
  expect(subjects).toHaveLength(60);
  expect(new Set(subjects).size).toBe(60);
  await Promise.all(workers.map((worker) => worker.stop()));
});

test('mails in the outbox are encrypted', async () => {
  await sendMail(app.ctx, app.ctx.db, MAIL);
  const { rows } = await app.ctx.pool.query('select mail from mail_outbox');
  expect(rows[0].mail.toString('latin1')).not.toContain('someone@user.test');
  await app.ctx.pool.query('delete from mail_outbox');
});

test('the sandbox mailbox survives a restart', async () => {
  const file = join(dir, 'kept.jsonl');
  const first = await startMailServer(file);
  await smtpMailer(first.smtpUrl, 'a@b.test', 'optional').send('one', MAIL);
  await first.stop();
  const second = await startMailServer(file);
  expect(second.mails()).toMatchObject([{ to: MAIL.to }]);
  await second.stop();
});

test('sending fails if the mail server does not respond', async () => {
  const { createServer } = await import('node:net');
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  await expect(
    smtpMailer(`smtp://127.0.0.1:${port}`, 'a@b.test', 'optional', 1_000).send('one', MAIL),
  ).rejects.toThrow();
  silent.close();
});

test('production requires the mail settings', () => {
  const env = {
    CAUSEWAY_PROFILE: 'production',
    SANCTIONS: 'none',
    PUBLIC_URL: 'https://causeway.test',
    DATABASE_URL: 'postgres://db.test/x',
    CAUSEWAY_SECRET: Buffer.alloc(32, 1).toString('base64'),
  };
  const problems = (more: object) => {
    try {
      loadConfig({ ...env, ...more });
      return '';
    } catch (error) {
      return (error as ConfigError).message;
    }
  };
  expect(problems({})).toMatch(/SMTP_URL[\s\S]*MAIL_FROM/);
  expect(problems({ SMTP_URL: 'https://x', MAIL_FROM: 'nobody' })).toMatch(/SMTP_URL[\s\S]*MAIL_FROM/);
  expect(
    problems({ SMTP_URL: 'smtps://user:pass@mail.test', MAIL_FROM: 'Causeway <no-reply@causeway.test>' }),
  ).not.toMatch(/SMTP_URL|MAIL_FROM/);
});

test('a server without TLS gets no mail unless TLS is optional', async () => {
  const plain = await startMailServer(join(dir, 'plain.jsonl'));
  await expect(smtpMailer(plain.smtpUrl, 'a@b.test', 'required').send('one', MAIL)).rejects.toThrow(
    /STARTTLS/,
  );
  expect(plain.mails()).toHaveLength(0);
  await smtpMailer(plain.smtpUrl, 'a@b.test', 'optional').send('one', MAIL);
  expect(plain.mails()).toHaveLength(1);
  await plain.stop();
});
