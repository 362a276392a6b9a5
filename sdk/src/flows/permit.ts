import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, hashStruct } from 'viem/utils';
import { permitAbi as abi } from './abi.ts';
import type { Allowance } from './approval.ts';
import { FlowFailure } from './flow.ts';
import { promptOwner, readNode, type Session } from './session.ts';
import { type Call, simulate } from './transaction.ts';

type Domain = { name: string; version: string; chainId: number; verifyingContract: Hex };

const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;
const PERMIT = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const;

const PERMIT_TTL_S = 1_800n;

/** Reads the EIP-712 domain and nonce for a permit. Throws `permit_not_supported` for a token without EIP-2612. */
export async function readPermitTerms(
  session: Session,
  { token }: Allowance,
): Promise<{ domain: Domain; nonce: bigint }> {
  const read = (functionName: 'name' | 'version' | 'nonces' | 'DOMAIN_SEPARATOR') =>
    readToken(session, token, functionName).catch(() => null);
  const [name, version, nonce, separator] = await Promise.all([
    read('name'),
    read('version'),
    read('nonces'),
    read('DOMAIN_SEPARATOR'),
  ]);
  if (name === null || nonce === null || separator === null) throw unsupported();
  // Few tokens expose their version, so the usual versions are tried until one matches the domain separator.
  for (const candidate of [String(version ?? '1'), '1', '2']) {
    const domain = {
      name: String(name),
      version: candidate,
      chainId: session.chainId,
      verifyingContract: token,
    };
    if (separatorOf(domain) === separator) return { domain, nonce: BigInt(nonce) };
  }
  throw unsupported();
}

/** Asks the owner to sign a permit for exactly `wanted.amount`. Returns the call that submits the permit. */
export async function signPermit(
  session: Session,
  wanted: Allowance,
  { domain, nonce }: { domain: Domain; nonce: bigint },
): Promise<Call> {
  const { token, spender, amount } = wanted;
  const { timestamp } = (await readNode(session, 'eth_getBlockByNumber', ['latest', false])) as {
    timestamp: Hex;
  };
  // Contracts compare deadlines with the block's timestamp, but the latest block of a quiet chain may be old. The
  // deadline is therefore counted from that block's timestamp or from this machine's clock, whichever is later.
  const now = BigInt(Math.max(Number(timestamp), Math.floor(Date.now() / 1000)));
  const deadline = now + PERMIT_TTL_S;
  const message = {
    owner: session.address,
    spender,
    value: String(amount),
    nonce: String(nonce),
    deadline: String(deadline),
  };
  const types = { EIP712Domain: DOMAIN, Permit: PERMIT };
  const typedData = JSON.stringify({ domain, primaryType: 'Permit', types, message });
  const signature = String(await promptOwner(session, 'eth_signTypedData_v4', [session.address, typedData]));
  const { v, r, s } = splitSignature(signature);
  const args = [session.address, spender, amount, deadline, v, r, s] as const;
  const call = { to: token, data: encodeFunctionData({ abi, functionName: 'permit', args }) };
  await simulate(session, call).catch((error) => {
    throw error instanceof FlowFailure ? unsupported(error) : error;
  });
  return call;
}

/**
 * Splits a 65-byte signature. `permit` accepts no other length, so this throws for the signatures of most contract
 * wallets.
 */
function splitSignature(signature: string): { v: number; r: Hex; s: Hex } {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) throw unsupported();
  const v = Number.parseInt(signature.slice(130), 16);
  return { r: `0x${signature.slice(2, 66)}`, s: `0x${signature.slice(66, 130)}`, v: v < 27 ? v + 27 : v };
}

async function readToken(
  session: Session,
  to: Hex,
  functionName: 'name' | 'version' | 'nonces' | 'DOMAIN_SEPARATOR',
): Promise<string | bigint> {
  const data =
    functionName === 'nonces'
      ? encodeFunctionData({ abi, functionName, args: [session.address] })
      : encodeFunctionData({ abi, functionName });
  const returned = await simulate(session, { to, data });
  return decodeFunctionResult({ abi, functionName, data: returned });
}

function separatorOf(domain: Domain): Hex {
  const data = { ...domain, chainId: BigInt(domain.chainId) };
  return hashStruct({ data, primaryType: 'EIP712Domain', types: { EIP712Domain: DOMAIN } });
}

function unsupported(cause?: unknown): FlowFailure {
  return new FlowFailure('permit_not_supported', 'The token or the wallet does not support permits.', {
    cause,
  });
}
