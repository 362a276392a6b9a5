import { tokenizedSwapAbi, venueManagerAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import {
  type Domain,
  findCostProblem,
  hashQuote,
  hashRequest,
  type QuoteTuple,
  SIGNER_ROLE,
  separatorOf,
  swapDomain,
  venueDomain,
} from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  isAddress,
  parseAbi,
  recoverAddress,
} from 'viem/utils';
import type { Eip1193Provider } from '../wallet.ts';

/** What the transaction endpoint answered, and the wallet that will broadcast it. */
export type Claimed = {
  to: string;
  data: string;
  wallet: string;
  expires_at?: string | undefined;
  pay_input_amount?: string | undefined;
  fee?: string | undefined;
  notional_value?: string | undefined;
  receive_output_amount?: string | undefined;
  /** The token that is paid with, and the one that is bought, where you know which they must be. */
  funding_token?: string | undefined;
  asset?: string | undefined;
  /** The domain name, for a contract that does not tell it. */
  domain_name?: string | undefined;
};

export type Finding = { check: string; ok: boolean; says: string };
export type Verdict = { ok: boolean; findings: Finding[] };

type Note = (check: string, ok: boolean, says: string) => void;
/** Undefined when the contract does not answer as such a contract does. */
type Read = (to: Hex, functionName: string, args?: unknown[]) => Promise<unknown>;
type Swap = {
  quote: QuoteTuple;
  venueSignature: Hex;
  token: Hex;
  amount: bigint;
  operatorSignature: Hex;
  isCanonical: boolean;
};
type Subject = { claimed: Claimed; swap: Hex; wallet: Hex; chainId: number; call: Swap };

const abi = [
  ...tokenizedSwapAbi,
  ...venueManagerAbi,
  ...parseAbi(['function decimals() view returns (uint8)']),
];
const LAST_DATE = 8_640_000_000_000n;

/**
 * Whether calldata does what its reply says, asked of the chain alone: who signed it, for which wallet, what it costs,
 * what it gives and until when. Depends on nothing of the service, so that partners can run it anywhere. Throws only
 * when the node (one that you trust, in the shape of EIP-1193) does not answer.
 *
 * @example
 * ```ts
 * import type { createCauseway } from '@causeway/sdk';
 * import { type EvmWallet, verifyCalldata } from '@causeway/sdk/flows';
 *
 * export async function check(causeway: ReturnType<typeof createCauseway>, wallet: EvmWallet) {
 *   const order = { symbol: 'AAPLon', chain: 'ethereum_sepolia', amount: '100500000' } as const;
 *   const reply = await causeway.tokenized.transaction({ ...order, wallet_address: wallet.address });
 *   const { ok, findings } = await verifyCalldata(wallet.provider, { ...reply, wallet: wallet.address });
 *   console.log(ok ? 'as ordered' : findings);
 * }
 * ```
 */
export async function verifyCalldata(node: Eip1193Provider, claimed: Claimed): Promise<Verdict> {
  const findings: Finding[] = [];
  const note: Note = (check, ok, says) => void findings.push({ check, ok, says });
  const call = decodeSwap(claimed.data);
  if (call === null || !isAddress(claimed.to, LOOSE) || !isAddress(claimed.wallet, LOOSE)) {
    note('calldata', false, 'is no call of swap(…), or its wallet or contract is no address');
    return { ok: false, findings };
  }
  note('calldata', call.isCanonical, call.isCanonical ? 'calls swap(…)' : 'holds bytes that mean nothing');
  const subject: Subject = {
    claimed,
    call,
    swap: claimed.to.toLowerCase() as Hex,
    wallet: claimed.wallet.toLowerCase() as Hex,
    chainId: Number(await node.request({ method: 'eth_chainId' })),
  };
  const read: Read = (to, functionName, args = []) => readContract(node, to, functionName, args);
  await checkVenue(read, subject, note);
  await checkOperator(read, subject, note);
  await checkMoney(read, subject, note);
  await checkTime(node, subject, note);
  return { ok: findings.every(({ ok }) => ok), findings };
}

const LOOSE = { strict: false };

async function checkVenue(read: Read, { call, swap, chainId }: Subject, note: Note): Promise<void> {
  const { quote, venueSignature } = call;
  note(
    'chain',
    quote.chainId === BigInt(chainId),
    `the quote is for ${quote.chainId}, the node is on ${chainId}`,
  );
  const manager = await read(swap, 'manager');
  if (typeof manager !== 'string') return note('venue domain', false, `${swap} is no swap contract`);
  const venue = venueDomain(chainId, manager as Hex);
  const separator = await read(manager as Hex, 'getDomainSeparator');
  note('venue domain', separatorOf(venue) === separator, `the venue's manager is ${manager}`);
  const signer = await recover(hashQuote(venue, quote), venueSignature);
  const isVenue = signer !== null && (await read(manager as Hex, 'hasRole', [SIGNER_ROLE, signer])) === true;
  note('venue signature', isVenue, `the quote is signed by ${signer ?? 'nobody'}`);
  const executed = await read(manager as Hex, 'executedAttestationIds', [quote.attestationId]);
  note('unused', executed === false, `the attestation was ${executed === false ? 'not ' : ''}executed yet`);
}

async function checkOperator(read: Read, subject: Subject, note: Note): Promise<void> {
  const { call, swap, wallet } = subject;
  const { quote, token, amount, operatorSignature } = call;
  const domain = await readDomain(read, subject);
  note('swap domain', domain !== null, domain ? `is ${domain.name}` : 'is not what the contract says');
  const [inputToken, outputToken] = quote.side === 0 ? [token, quote.asset] : [quote.asset, token];
  const totals = await read(swap, 'totals', [wallet, inputToken, outputToken]);
  const nonce = Array.isArray(totals) ? (totals[3] as bigint) : 0n;
  const { side, expiration: expiry } = quote;
  const request = { side, inputToken, outputToken, sender: wallet, nonce, expiry, amount };
  const operator = String(await read(swap, 'operator')).toLowerCase();
  const signer = domain && (await recover(hashRequest(domain, request), operatorSignature));
  note('operator signature', signer?.toLowerCase() === operator, `for ${wallet} at its nonce ${nonce}`);
}

async function checkMoney(read: Read, { claimed, call, swap }: Subject, note: Note): Promise<void> {
  const { quote, token, amount } = call;
  const same = (check: string, said: string | undefined, is: bigint) =>
    note(check, said === undefined || said === is.toString(), `is ${is}`);
  const named = (check: string, said: string | undefined, is: Hex) => {
    if (said !== undefined) note(check, said.toLowerCase() === is, `is ${is}`);
  };
  named('funding token', claimed.funding_token, token);
  named('asset', claimed.asset, quote.asset);
  note('side', quote.side === 0, quote.side === 0 ? 'buys' : 'does not buy');
  same('pay_input_amount', claimed.pay_input_amount, amount);
  same('receive_output_amount', claimed.receive_output_amount, quote.quantity);
  const [split, decimals] = [await read(swap, 'fee', [quote.side, amount]), await read(token, 'decimals')];
  if (!Array.isArray(split) || typeof decimals !== 'number')
    return note('fee', false, 'the contract or the funding token does not answer');
  const [fee, net] = split as [bigint, bigint];
  same('fee', claimed.fee, fee);
  same('notional_value', claimed.notional_value, net);
  const problem = findCostProblem(quote, net, decimals);
  note('price', problem === null, problem ?? `${quote.price} (1e18) for each whole token`);
}

async function checkTime(node: Eip1193Provider, { claimed, call }: Subject, note: Note): Promise<void> {
  const { expiration } = call.quote;
  const isDate = expiration <= LAST_DATE;
  const says = isDate ? new Date(Number(expiration) * 1000).toISOString() : `${expiration}`;
  const said = claimed.expires_at;
  const isSame = said === undefined || BigInt(Date.parse(said) || 0) === expiration * 1000n;
  note('expires_at', isDate && isSame, `is ${says}`);
  const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  const now = BigInt((block as { timestamp: Hex }).timestamp);
  note('in time', now <= expiration, `the chain is at ${now}`);
}

async function readDomain(read: Read, { claimed, chainId, swap }: Subject): Promise<Domain | null> {
  const told = await read(swap, 'eip712Domain');
  const name = Array.isArray(told) ? String(told[1]) : (claimed.domain_name ?? '');
  const domain = swapDomain(name, chainId, swap);
  return separatorOf(domain) === (await read(swap, 'domainSeparator')) ? domain : null;
}

function decodeSwap(data: string): Swap | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: tokenizedSwapAbi, data: data as Hex });
    if (functionName !== 'swap') return null;
    const [quote, venueSignature, token, amount, operatorSignature] = args;
    const strict = encodeFunctionData({ abi: tokenizedSwapAbi, functionName, args });
    return {
      quote: { ...quote, asset: quote.asset.toLowerCase() as Hex },
      token: token.toLowerCase() as Hex,
      ...{ venueSignature, amount, operatorSignature },
      isCanonical: strict === data.toLowerCase(),
    };
  } catch {
    return null;
  }
}

async function recover(hash: Hex, signature: Hex): Promise<Hex | null> {
  return recoverAddress({ hash, signature }).catch(() => null);
}

async function readContract(
  node: Eip1193Provider,
  to: Hex,
  functionName: string,
  args: unknown[],
): Promise<unknown> {
  const call = { abi, functionName, args } as Parameters<typeof encodeFunctionData>[0];
  const params = [{ to, data: encodeFunctionData(call) }, 'latest'];
  const data = await node.request({ method: 'eth_call', params }).catch((error: unknown) => {
    if (isRevert(error)) return '0x';
    throw error;
  });
  try {
    const answer = { abi, functionName, data } as Parameters<typeof decodeFunctionResult>[0];
    return decodeFunctionResult(answer);
  } catch {
    return undefined;
  }
}

/** Nodes and wallets say it in several ways: code 3, with the data, or in words. */
function isRevert(error: unknown): boolean {
  const { code, data, message } = error as { code?: unknown; data?: unknown; message?: unknown };
  return code === 3 || typeof data === 'string' || /revert|invalid opcode|out of gas/i.test(String(message));
}
