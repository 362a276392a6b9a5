import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { realMicros } from '@causeway/service/kernel/clock.ts';
import { toTimestamp } from '@causeway/service/kernel/wire.ts';
import { type ParsedMessage, parseMessage } from './mail-message.ts';

export type ReceivedMail = ParsedMessage & { to: string; sent_at: string };

export type MailServer = { smtpUrl: string; mails(): readonly ReceivedMail[]; stop(): Promise<void> };

const MAX_MAILS = 1000;
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Starts an SMTP server (RFC 5321) that stores messages in `file` instead of delivering them. */
export async function startMailServer(file: string): Promise<MailServer> {
  const mails = readMails(file);
  const store = (mail: ReceivedMail) => {
    mails.push(mail);
    if (mails.length > MAX_MAILS) mails.shift();
    appendFileSync(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 });
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    handleSession(socket, store);
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

function readMails(file: string): ReceivedMail[] {
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.slice(-MAX_MAILS).map((line) => JSON.parse(line));
}

/** Handles one client. Commands are single lines, and a message ends with a lone dot. */
function handleSession(socket: Socket, store: (mail: ReceivedMail) => void): void {
  let input = '';
  let to: string[] = [];
  let isData = false;
  const reply = (line: string) => socket.write(`${line}\r\n`);
  const takeMessage = (): boolean => {
    const end = input.startsWith('.\r\n') ? 0 : input.indexOf('\r\n.\r\n');
    if (end < 0) return false;
    const raw = input.slice(0, end).replace(/^\.\./gm, '.');
    input = input.slice(end + (end === 0 ? 3 : 5));
    isData = false;
    for (const recipient of to)
      store({ to: recipient, ...parseMessage(raw), sent_at: toTimestamp(realMicros()) });
    to = [];
    reply('250 2.0.0 stored');
    return true;
  };
  const takeCommand = (): boolean => {
    const end = input.indexOf('\r\n');
    if (end < 0) return false;
    const line = input.slice(0, end);
    input = input.slice(end + 2);
    const [verb = ''] = line.toUpperCase().split(/[ :]/, 1);
    if (verb === 'EHLO' || verb === 'HELO') reply('250 sandbox');
    else if (verb === 'RCPT') {
      to.push(/<([^<>]+)>/.exec(line)?.[1] ?? '');
      reply('250 2.1.5 ok');
    } else if (verb === 'DATA') {
      isData = true;
      reply('354 end with a lone dot');
    } else if (verb === 'QUIT') {
      reply('221 2.0.0 bye');
      socket.end();
    } else if (verb === 'MAIL' || verb === 'RSET') {
      to = [];
      reply('250 2.1.0 ok');
    } else reply(verb === 'NOOP' ? '250 2.0.0 ok' : '502 5.5.2 unknown command');
    return true;
  };
  // Reads the bytes as `latin1`, one character per byte, because the encoding depends on the message.
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    input += chunk;
    if (input.length > MAX_MESSAGE_BYTES) return void socket.destroy();
    while (isData ? takeMessage() : takeCommand());
  });
  reply('220 sandbox ESMTP');
}
