import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type CalldataClaim, verifyCalldata } from '@causeway/contracts/encodings/verify-calldata.ts';
import { UsageError } from '../../kernel/errors.ts';
import { EVM_PROTOCOL } from '../../platform/chain/evm/protocol.ts';
import { openRpc } from '../../platform/chain/rpc/rpc.ts';
import type { CommandHelp } from './command.ts';

export const help: CommandHelp = {
  usage: [
    'verify-calldata --rpc URL --wallet ADDRESS --reply FILE [--attestation ID] [--domain-name NAME]',
    'verify-calldata --rpc URL --wallet ADDRESS --to ADDRESS --data HEX [--attestation ID] [--domain-name NAME]',
  ],
  description:
    'Verifies the calldata of a tokenized swap before you sign it. The checks use an Ethereum node of your choice, so you need not trust this service. Prints one line per check and exits with 1 if any check fails.',
  options: {
    '--rpc URL': 'The JSON-RPC URL of the node.',
    '--wallet ADDRESS': 'The wallet that will send the transaction.',
    '--reply FILE':
      'The file with the JSON reply of POST /v1/tokenized/swap/transaction, or - for standard input.',
    '--to ADDRESS': 'The contract that the transaction calls, if there is no reply file.',
    '--data HEX': 'The calldata, if there is no reply file.',
    '--attestation ID':
      "The order's attestation_id, from its tokenized_swap.issued event. Detects the quote of another order.",
    '--domain-name NAME':
      'The EIP-712 domain name of the swap contract, if the contract has no eip712Domain().',
  },
  examples: {
    'verify-calldata --rpc https://eth.example --wallet 0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984 --reply reply.json':
      'Verify a saved reply',
  },
};

const TIMEOUT_MS = 20_000;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rpc: { type: 'string' },
      wallet: { type: 'string' },
      reply: { type: 'string' },
      to: { type: 'string' },
      data: { type: 'string' },
      attestation: { type: 'string' },
      'domain-name': { type: 'string' },
    },
  });
  const { rpc: url, wallet, attestation } = values;
  if (url === undefined || !URL.canParse(url))
    throw new UsageError('verify-calldata requires --rpc with a URL');
  if (!isHex(wallet, 40)) throw new UsageError('verify-calldata requires --wallet with an address');
  const reply = values.reply === undefined ? values : await readReply(values.reply);
  const { to, data } = reply;
  if (!isHex(to, 40) || !isHex(data))
    throw new UsageError('verify-calldata requires --reply, or both --to and --data');
  const name = values['domain-name'];
  const claimed = {
    ...reply,
    to,
    data,
    wallet,
    ...(attestation !== undefined && { attestation_id: attestation }),
    ...(name !== undefined && { domain_name: name }),
  } as CalldataClaim;
  const rpc = openRpc({ chain: 'node', protocol: EVM_PROTOCOL, urls: [url], timeoutMs: TIMEOUT_MS });
  try {
    const { ok, findings } = await verifyCalldata(rpc, claimed);
    for (const { check, ok: passed, description } of findings)
      process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${check.padEnd(22)} ${description}\n`);
    process.stdout.write(ok ? '\nThe calldata is correct.\n' : '\nDo not send this calldata.\n');
    if (!ok) process.exitCode = 1;
  } finally {
    await rpc.close();
  }
}

async function readReply(path: string): Promise<Partial<CalldataClaim>> {
  const text = path === '-' ? await readStandardInput() : await readFile(path, 'utf8');
  try {
    return JSON.parse(text) as Partial<CalldataClaim>;
  } catch {
    throw new UsageError(`--reply ${path} must contain JSON`);
  }
}

async function readStandardInput(): Promise<string> {
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
