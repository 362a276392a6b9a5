import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { parseMessage } from './mail-message.ts';

export type ReceivedMail = { to: string; subject: string; text: string; sent_at: string };

export type MailServer = { smtpUrl: string; mails(): readonly ReceivedMail[]; stop(): Promise<void> };

const MAX_KEPT = 1000;
const MAX_BYTES = 1024 * 1024;

/** A mail server (SMTP, RFC 5321) that delivers to nobody and keeps what it was given in a file of its own. */
export async function startMailServer(file: string): Promise<MailServer> {
  const mails = readKept(file);
  const keep = (mail: ReceivedMail) => {
    mails.push(mail);
    if (mails.length > MAX_KEPT) mails.shift();
    appendFileSync(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 });
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    converse(socket, keep);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    mails: () => mails,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readKept(file: string): ReceivedMail[] {
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.slice(-MAX_KEPT).map((line) => JSON.parse(line));
}

/** One client's session: commands line by line, then the message up to a lone dot. */
function converse(socket: Socket, keep: (mail: ReceivedMail) => void): void {
  let input = '';
  let to: string[] = [];
  let isData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const takeMessage = (): boolean => {
    const end = input.startsWith('.\r\n') ? 0 : input.indexOf('\r\n.\r\n');
    if (end < 0) return false;
    const raw = input.slice(0, end).replace(/^\.\./gm, '.');
    input = input.slice(end + (end === 0 ? 3 : 5));
    isData = false;
    for (const one of to)
      keep({ to: one, ...parseMessage(raw), sent_at: new Date().toISOString().replace('Z', '000Z') });
    to = [];
    say('250 2.0.0 kept');
    return true;
  };
  const takeCommand = (): boolean => {
    const end = input.indexOf('\r\n');
    if (end < 0) return false;
    const line = input.slice(0, end);
    input = input.slice(end + 2);
    const [verb = ''] = line.toUpperCase().split(/[ :]/, 1);
    if (verb === 'EHLO' || verb === 'HELO') say('250 sandbox');
    else if (verb === 'RCPT') {
      to.push(/<([^<>]+)>/.exec(line)?.[1] ?? '');
      say('250 2.1.5 ok');
    } else if (verb === 'DATA') {
      isData = true;
      say('354 go on');
    } else if (verb === 'QUIT') {
      say('221 2.0.0 bye');
      socket.end();
    } else if (verb === 'MAIL' || verb === 'RSET') {
      to = [];
      say('250 2.1.0 ok');
    } else say(verb === 'NOOP' ? '250 2.0.0 ok' : '502 5.5.2 unknown command');
    return true;
  };
  // Bytes one to one: the message says itself what they mean.
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    input += chunk;
    if (input.length > MAX_BYTES) return void socket.destroy();
    while (isData ? takeMessage() : takeCommand());
  });
  say('220 sandbox ESMTP');
}
