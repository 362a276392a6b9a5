import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type CalldataClaim, verifyCalldata } from '@causeway/contracts/encodings/verify-calldata.ts';
import { openRpc } from '../chain/evm/rpc.ts';
import { ConfigError } from '../config.ts';

const USAGE =
  'verify-calldata --rpc URL --wallet ADDRESS (--reply FILE | --to ADDRESS --data HEX) [--domain-name NAME]';
const TIMEOUT = 20_000;

/** Prints what it found and fails when anything is not as it should be. `--reply -` reads the standard input. */
export async function runVerify(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rpc: { type: 'string' },
      wallet: { type: 'string' },
      reply: { type: 'string' },
      to: { type: 'string' },
      data: { type: 'string' },
      'domain-name': { type: 'string' },
    },
  });
  const { rpc: url, wallet } = values;
  if (url === undefined || !URL.canParse(url) || !isHex(wallet, 40)) throw new ConfigError([USAGE]);
  const reply = values.reply === undefined ? values : await readReply(values.reply);
  const { to, data } = reply;
  if (!isHex(to, 40) || !isHex(data)) throw new ConfigError([USAGE]);
  const name = values['domain-name'];
  const claimed = {
    ...reply,
    to,
    data,
    wallet,
    ...(name !== undefined && { domain_name: name }),
  } as CalldataClaim;
  const rpc = openRpc({ chain: 'the given node', urls: [url], timeoutMs: TIMEOUT });
  try {
    const { ok, findings } = await verifyCalldata(rpc, claimed);
    for (const { check, ok: passed, description } of findings)
      process.stdout.write(`${passed ? 'ok    ' : 'WRONG '} ${check.padEnd(22)} ${description}\n`);
    process.stdout.write(ok ? '\nThe calldata is what it claims to be.\n' : '\nDo not send this calldata.\n');
    if (!ok) process.exitCode = 1;
  } finally {
    await rpc.close();
  }
}

async function readReply(path: string): Promise<Partial<CalldataClaim>> {
  const text = path === '-' ? await readAll() : await readFile(path, 'utf8');
  try {
    return JSON.parse(text) as Partial<CalldataClaim>;
  } catch {
    throw new ConfigError([`--reply: ${path} is not JSON`]);
  }
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function isHex(text: string | undefined, digits?: number): text is string {
  return (
    text !== undefined &&
    /^0x[0-9a-fA-F]+$/.test(text) &&
    (digits === undefined || text.length === digits + 2)
  );
}
