import type { Hex } from 'viem';
import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbi,
  recoverAddress,
} from 'viem/utils';
import { tokenizedSwapAbi, venueManagerAbi } from '../chain/tokenized-swap.ts';
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
} from './order.ts';

/** A node that the verifier trusts, in the shape of EIP-1193; it need not know us. */
export type Node = { request(call: { method: string; params?: unknown }): Promise<unknown> };

/** What the transaction endpoint answered, and the wallet that will broadcast it. */
export type Claimed = {
  to: string;
  data: string;
  wallet: string;
  expires_at?: string;
  pay_input_amount?: string;
  fee?: string;
  notional_value?: string;
  receive_output_amount?: string;
  /** The domain name, for a contract that does not tell it. */
  domain_name?: string;
};

export type Finding = { check: string; ok: boolean; says: string };
export type Verdict = { ok: boolean; findings: Finding[] };

const abi = [
  ...tokenizedSwapAbi,
  ...venueManagerAbi,
  ...parseAbi(['function decimals() view returns (uint8)']),
];

/**
 * Whether calldata does what its reply says, asked of the chain alone: who signed it, for which wallet, what it costs,
 * what it gives and until when. Depends on nothing of the service, so that partners can run it anywhere.
 */
export async function verifyCalldata(node: Node, claimed: Claimed): Promise<Verdict> {
  const findings: Finding[] = [];
  const note = (check: string, ok: boolean, says: string) => void findings.push({ check, ok, says });
  const decoded = decode(claimed.data as Hex);
  if (decoded === null) {
    note('calldata', false, 'is no call of swap(…)');
    return { ok: false, findings };
  }
  const { quote, venueSignature, token, amount, operatorSignature } = decoded;
  note(
    'calldata',
    decoded.isCanonical,
    decoded.isCanonical ? 'calls swap(…)' : 'holds bytes that mean nothing',
  );
  const swap = claimed.to.toLowerCase() as Hex;
  const wallet = claimed.wallet.toLowerCase() as Hex;
  const read = (to: Hex, functionName: string, args: unknown[] = []) =>
    readContract(node, to, functionName, args);

  const chainId = Number(await node.request({ method: 'eth_chainId' }));
  note(
    'chain',
    quote.chainId === BigInt(chainId),
    `the quote is for ${quote.chainId}, the node is on ${chainId}`,
  );
  const manager = (await read(swap, 'manager')) as Hex;
  const venue = venueDomain(chainId, manager);
  note(
    'venue domain',
    separatorOf(venue) === (await read(manager, 'getDomainSeparator')),
    `the venue's manager is ${manager}`,
  );
  const signer = await recover(hashQuote(venue, quote), venueSignature);
  const isVenue = signer !== null && ((await read(manager, 'hasRole', [SIGNER_ROLE, signer])) as boolean);
  note('venue signature', isVenue, `the quote is signed by ${signer ?? 'nobody'}`);

  const domain = await readDomain(read, claimed, chainId, swap);
  note(
    'swap domain',
    domain !== null,
    domain === null ? 'is not what the contract says' : `is ${domain.name}`,
  );
  const [input, output] = quote.side === 0 ? [token, quote.asset] : [quote.asset, token];
  const totals = (await read(swap, 'totals', [wallet, input, output])) as readonly bigint[];
  const nonce = totals[3] ?? 0n;
  const request = {
    side: quote.side,
    inputToken: input,
    outputToken: output,
    sender: wallet,
    nonce,
    expiry: quote.expiration,
    amount,
  };
  const operator = String(await read(swap, 'operator')).toLowerCase();
  const by = domain && (await recover(hashRequest(domain, request), operatorSignature));
  note('operator signature', by?.toLowerCase() === operator, `for wallet ${wallet} at its nonce ${nonce}`);

  await checkMoney(read, { claimed, quote, token, amount, swap }, note);
  await checkTime(node, read, { claimed, quote, manager }, note);
  return { ok: findings.every(({ ok }) => ok), findings };
}

type Read = (to: Hex, functionName: string, args?: unknown[]) => Promise<unknown>;
type Note = (check: string, ok: boolean, says: string) => void;
type Money = { claimed: Claimed; quote: QuoteTuple; token: Hex; amount: bigint; swap: Hex };

async function checkMoney(
  read: Read,
  { claimed, quote, token, amount, swap }: Money,
  note: Note,
): Promise<void> {
  const same = (check: string, said: string | undefined, is: bigint) =>
    note(check, said === undefined || said === is.toString(), `is ${is}`);
  note('side', quote.side === 0, quote.side === 0 ? 'buys' : 'does not buy');
  const [fee = 0n, net = 0n] = (await read(swap, 'fee', [quote.side, amount])) as readonly bigint[];
  same('pay_input_amount', claimed.pay_input_amount, amount);
  same('fee', claimed.fee, fee);
  same('notional_value', claimed.notional_value, net);
  same('receive_output_amount', claimed.receive_output_amount, quote.quantity);
  const problem = findCostProblem(quote, net, Number(await read(token, 'decimals')));
  note('price', problem === null, problem ?? `${quote.price} (1e18) for each whole token`);
}

type Timing = { claimed: Claimed; quote: QuoteTuple; manager: Hex };

async function checkTime(
  node: Node,
  read: Read,
  { claimed, quote, manager }: Timing,
  note: Note,
): Promise<void> {
  const expires = Number(quote.expiration) * 1000;
  const said = claimed.expires_at;
  note(
    'expires_at',
    said === undefined || Date.parse(said) === expires,
    `is ${new Date(expires).toISOString()}`,
  );
  const block = (await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
    timestamp: Hex;
  };
  note('in time', BigInt(block.timestamp) <= quote.expiration, `the chain is at ${BigInt(block.timestamp)}`);
  const executed = (await read(manager, 'executedAttestationIds', [quote.attestationId])) as boolean;
  note(
    'unused',
    !executed,
    executed ? 'the attestation was executed' : 'the attestation was not executed yet',
  );
}

async function readDomain(read: Read, claimed: Claimed, chainId: number, swap: Hex): Promise<Domain | null> {
  const told = await read(swap, 'eip712Domain').then(
    (answer) => String((answer as readonly unknown[])[1]),
    () => null,
  );
  const domain = swapDomain(told ?? claimed.domain_name ?? '', chainId, swap);
  return separatorOf(domain) === (await read(swap, 'domainSeparator')) ? domain : null;
}

function decode(data: Hex) {
  try {
    const { functionName, args } = decodeFunctionData({ abi: tokenizedSwapAbi, data });
    if (functionName !== 'swap') return null;
    const [quote, venueSignature, token, amount, operatorSignature] = args;
    const lower = { ...quote, asset: quote.asset.toLowerCase() as Hex };
    const isCanonical =
      encodeFunctionData({ abi: tokenizedSwapAbi, functionName, args }) === data.toLowerCase();
    const funding = token.toLowerCase() as Hex;
    return { quote: lower, venueSignature, token: funding, amount, operatorSignature, isCanonical };
  } catch {
    return null;
  }
}

async function recover(hash: Hex, signature: Hex): Promise<Hex | null> {
  return recoverAddress({ hash, signature }).catch(() => null);
}

async function readContract(node: Node, to: Hex, functionName: string, args: unknown[]): Promise<unknown> {
  const call = { abi, functionName, args } as Parameters<typeof encodeFunctionData>[0];
  const data = await node.request({
    method: 'eth_call',
    params: [{ to, data: encodeFunctionData(call) }, 'latest'],
  });
  return decodeFunctionResult({ abi, functionName, data: data as Hex } as Parameters<
    typeof decodeFunctionResult
  >[0]);
}
