import type { Hex } from 'viem';
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  isAddress,
  parseAbi,
  recoverAddress,
} from 'viem/utils';
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
} from './tokenized-order.ts';
import { venueManagerAbi, verifiedSwapAbi } from './verifier-abi.ts';

/** An EIP-1193 connection to a node that the caller trusts. */
type NodeConnection = { request(call: { method: string; params?: unknown }): Promise<unknown> };

/** The reply to `POST /v1/tokenized/swap/transaction`, and the wallet that will broadcast the transaction. */
export type CalldataClaim = {
  to: string;
  data: string;
  wallet: string;
  expires_at?: string | undefined;
  pay_input_amount?: string | undefined;
  fee?: string | undefined;
  notional_value?: string | undefined;
  receive_output_amount?: string | undefined;
  /**
   * The order's attestation, from its `tokenized_swap.issued` event. Checked only if given. Without it, the quote of
   * another order for the same quantity and with the same expiry passes.
   */
  attestation_id?: string | undefined;
  /** The expected payment token. Checked only if given. */
  funding_token?: string | undefined;
  /** The expected asset. Checked only if given. */
  asset?: string | undefined;
  /** The trusted swap contracts. Default: the `to` contract. */
  contracts?: readonly string[] | undefined;
  /** The trusted venue managers. Default: the manager set in the `to` contract. */
  venue_managers?: readonly string[] | undefined;
  /** The EIP-712 domain name, for a contract without `eip712Domain()`. */
  domain_name?: string | undefined;
};

export type Finding = { check: string; ok: boolean; description: string };
export type Verdict = { ok: boolean; findings: Finding[] };

type Note = (check: string, ok: boolean, description: string) => void;
/** Calls a view function. Returns undefined if the call reverts or its result cannot be decoded. */
type Read = (to: Hex, functionName: string, args?: unknown[]) => Promise<unknown>;
type Swap = {
  quote: QuoteTuple;
  venueSignature: Hex;
  token: Hex;
  amount: bigint;
  operatorSignature: Hex;
  isCanonical: boolean;
};
type Subject = { claim: CalldataClaim; swap: Hex; wallet: Hex; chainId: number; call: Swap };

const abi = [
  ...verifiedSwapAbi,
  ...venueManagerAbi,
  ...parseAbi(['function decimals() view returns (uint8)']),
];
/** Makes `isAddress` ignore checksums. */
const LOOSE = { strict: false };
/** The last second that a JavaScript date can hold. */
const MAX_DATE_S = 8_640_000_000_000n;

/**
 * Checks tokenized-asset calldata against the chain: its signers, its wallet, its attestation, its cost, its output and
 * its expiry.
 * Needs only viem and an EIP-1193 node, so it runs anywhere. Throws only if the node fails.
 */
export async function verifyCalldata(node: NodeConnection, claim: CalldataClaim): Promise<Verdict> {
  const findings: Finding[] = [];
  const note: Note = (check, ok, description) => void findings.push({ check, ok, description });
  const call = decodeSwap(claim.data);
  if (call === null || !isAddress(claim.to, LOOSE) || !isAddress(claim.wallet, LOOSE)) {
    note('calldata', false, 'is not a swap(…) call, or the wallet or contract is not an address');
    return { ok: false, findings };
  }
  note(
    'calldata',
    call.isCanonical,
    call.isCanonical ? 'calls swap(…)' : 'differs from the canonical encoding',
  );
  const subject: Subject = {
    claim,
    call,
    swap: claim.to.toLowerCase() as Hex,
    wallet: claim.wallet.toLowerCase() as Hex,
    chainId: Number(await node.request({ method: 'eth_chainId' })),
  };
  const read: Read = (to, functionName, args = []) => readContract(node, to, functionName, args);
  checkPinned('contract', claim.contracts, subject.swap, note);
  await checkVenue(read, subject, note);
  await checkOperator(read, subject, note);
  await checkMoney(read, subject, note);
  await checkTime(node, subject, note);
  return { ok: findings.every(({ ok }) => ok), findings };
}

function checkPinned(check: string, pins: readonly string[] | undefined, actual: string, note: Note): void {
  if (pins === undefined) return;
  const isPinned = pins.some((pin) => pin.toLowerCase() === actual.toLowerCase());
  note(check, isPinned, `${actual} is ${isPinned ? '' : 'not '}trusted`);
}

async function checkVenue(read: Read, { claim, call, swap, chainId }: Subject, note: Note): Promise<void> {
  const { quote, venueSignature } = call;
  note(
    'chain',
    quote.chainId === BigInt(chainId),
    `the quote is for chain ${quote.chainId}, and the node is on chain ${chainId}`,
  );
  const manager = await read(swap, 'manager');
  if (typeof manager !== 'string') return note('venue domain', false, `${swap} is not a swap contract`);
  checkPinned('venue manager', claim.venue_managers, manager, note);
  const venue = venueDomain(chainId, manager as Hex);
  const separator = await read(manager as Hex, 'getDomainSeparator');
  note('venue domain', separatorOf(venue) === separator, `the venue's manager is ${manager}`);
  const signer = await recover(hashQuote(venue, quote), venueSignature);
  const isVenue = signer !== null && (await read(manager as Hex, 'hasRole', [SIGNER_ROLE, signer])) === true;
  note(
    'venue signature',
    isVenue,
    signer === null ? 'the quote signature is invalid' : `the quote is signed by ${signer}`,
  );
  const executed = await read(manager as Hex, 'executedAttestationIds', [quote.attestationId]);
  note(
    'unused',
    executed === false,
    `the attestation ${executed === false ? 'is unused' : 'was already used, or cannot be read'}`,
  );
}

async function checkOperator(read: Read, subject: Subject, note: Note): Promise<void> {
  const { call, swap, wallet } = subject;
  const { quote, token, amount, operatorSignature } = call;
  const domain = await readDomain(read, subject);
  note('swap domain', domain !== null, domain ? `is ${domain.name}` : 'does not match the contract');
  const [inputToken, outputToken] = quote.side === 0 ? [token, quote.asset] : [quote.asset, token];
  const totals = await read(swap, 'totals', [wallet, inputToken, outputToken]);
  const nonce = Array.isArray(totals) ? (totals[3] as bigint) : 0n;
  const { side, expiration: expiry } = quote;
  const request = { side, inputToken, outputToken, sender: wallet, nonce, expiry, amount };
  const operator = String(await read(swap, 'operator')).toLowerCase();
  const signer = domain && (await recover(hashRequest(domain, request), operatorSignature));
  note('operator signature', signer?.toLowerCase() === operator, `checked for ${wallet} with nonce ${nonce}`);
}

async function checkMoney(read: Read, { claim, call, swap }: Subject, note: Note): Promise<void> {
  const { quote, token, amount } = call;
  const compareAmount = (check: string, claimed: string | undefined, actual: bigint) =>
    note(check, claimed === undefined || claimed === actual.toString(), `is ${actual}`);
  const compareAddress = (check: string, expected: string | undefined, actual: Hex) => {
    if (expected !== undefined) note(check, expected.toLowerCase() === actual, `is ${actual}`);
  };
  compareAddress('funding token', claim.funding_token, token);
  compareAddress('asset', claim.asset, quote.asset);
  note('side', quote.side === 0, quote.side === 0 ? 'is a buy' : 'is not a buy');
  compareAmount('pay_input_amount', claim.pay_input_amount, amount);
  if (claim.attestation_id !== undefined)
    compareAmount('attestation', claim.attestation_id, quote.attestationId);
  compareAmount('receive_output_amount', claim.receive_output_amount, quote.quantity);
  const [split, decimals] = [await read(swap, 'fee', [quote.side, amount]), await read(token, 'decimals')];
  if (!Array.isArray(split) || typeof decimals !== 'number')
    return note(
      'fee',
      false,
      'cannot read the fee from the contract, or the decimals from the funding token',
    );
  const [fee, net] = split as [bigint, bigint];
  compareAmount('fee', claim.fee, fee);
  compareAmount('notional_value', claim.notional_value, net);
  const problem = findCostProblem(quote, net, decimals);
  note('price', problem === null, problem ?? `is ${quote.price} (18 decimals) per whole token`);
}

async function checkTime(node: NodeConnection, { claim, call }: Subject, note: Note): Promise<void> {
  const { expiration } = call.quote;
  const isDate = expiration <= MAX_DATE_S;
  const printed = isDate ? new Date(Number(expiration) * 1000).toISOString() : `${expiration}`;
  const claimed = claim.expires_at;
  const isSame = claimed === undefined || BigInt(Date.parse(claimed) || 0) === expiration * 1000n;
  note('expires_at', isDate && isSame, `is ${printed}`);
  const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  const now = BigInt((block as { timestamp: Hex }).timestamp);
  note(
    'in time',
    now <= expiration,
    `the quote expires at ${expiration}, and the latest block has the timestamp ${now}`,
  );
}

async function readDomain(read: Read, { claim, chainId, swap }: Subject): Promise<Domain | null> {
  const published = await read(swap, 'eip712Domain');
  const name = Array.isArray(published) ? String(published[1]) : (claim.domain_name ?? '');
  const domain = swapDomain(name, chainId, swap);
  return separatorOf(domain) === (await read(swap, 'domainSeparator')) ? domain : null;
}

function decodeSwap(data: string): Swap | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: verifiedSwapAbi, data: data as Hex });
    if (functionName !== 'swap') return null;
    const [quote, venueSignature, token, amount, operatorSignature] = args;
    const strict = encodeFunctionData({ abi: verifiedSwapAbi, functionName, args });
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
  node: NodeConnection,
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
    const result = { abi, functionName, data } as Parameters<typeof decodeFunctionResult>[0];
    return decodeFunctionResult(result);
  } catch {
    return undefined;
  }
}

/** Nodes and wallets report a revert as code 3, as revert data, or only in the message. */
function isRevert(error: unknown): boolean {
  const { code, data, message } = error as { code?: unknown; data?: unknown; message?: unknown };
  return code === 3 || typeof data === 'string' || /revert|invalid opcode|out of gas/i.test(String(message));
}
