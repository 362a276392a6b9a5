import { decodeFunctionResult, encodeFunctionData, hashStruct, parseAbi } from 'viem/utils';
import type { Allowance } from './approval.ts';
import { Stop } from './flow.ts';
import { askOwner, readNode, type Session } from './session.ts';
import { type Call, simulate } from './transaction.ts';

type Hex = `0x${string}`;
type Domain = { name: string; version: string; chainId: number; verifyingContract: Hex };

const abi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function nonces(address owner) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
]);

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

const LIFE = 1_800n;

/** What a permit of this token is signed with; a token without permits (EIP-2612) is told before anyone signs. */
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
  // Few tokens tell their version; the separator shows which one it is.
  for (const guess of [String(version ?? '1'), '1', '2']) {
    const domain = { name: String(name), version: guess, chainId: session.chainId, verifyingContract: token };
    if (separatorOf(domain) === separator) return { domain, nonce: BigInt(nonce) };
  }
  throw unsupported();
}

/** Has the owner sign a permit of exactly the amount, and gives the call by which the wallet puts it on chain. */
export async function signPermit(
  session: Session,
  wanted: Allowance,
  { domain, nonce }: { domain: Domain; nonce: bigint },
): Promise<Call> {
  const { token, spender, amount } = wanted;
  const { timestamp } = (await readNode(session, 'eth_getBlockByNumber', ['latest', false])) as {
    timestamp: Hex;
  };
  // The chain's own time judges it; a quiet chain's last block may lie back.
  const now = BigInt(Math.max(Number(timestamp), Math.floor(Date.now() / 1000)));
  const deadline = now + LIFE;
  const message = {
    owner: session.address,
    spender,
    value: String(amount),
    nonce: String(nonce),
    deadline: String(deadline),
  };
  const typed = { domain, primaryType: 'Permit', types: { EIP712Domain: DOMAIN, Permit: PERMIT }, message };
  const signature = String(
    await askOwner(session, 'eth_signTypedData_v4', [session.address, JSON.stringify(typed)]),
  );
  const { v, r, s } = splitSignature(signature);
  const args = [session.address, spender, amount, deadline, v, r, s] as const;
  const call = { to: token, data: encodeFunctionData({ abi, functionName: 'permit', args }) };
  await simulate(session, call).catch((error) => {
    throw error instanceof Stop ? unsupported(error) : error;
  });
  return call;
}

/** Contract wallets sign in other ways, which a permit does not take. */
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

function unsupported(cause?: unknown): Stop {
  return new Stop('permit_not_supported', 'This token takes no permit of this wallet; approve instead.', {
    cause,
  });
}
