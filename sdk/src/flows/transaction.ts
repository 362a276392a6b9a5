import { Stop } from './flow.ts';
import { describeRevert } from './revert.ts';
import { askOwner, readNode, type Session } from './session.ts';
import { isOutage } from './wallet-error.ts';

type Hex = `0x${string}`;

export type Call = { to: Hex; data: Hex };

/** What the call would return if it were sent now. A call that would fail is not sent: `contract_reverted`. */
export async function simulate(session: Session, call: Call): Promise<Hex> {
  try {
    return (await readNode(session, 'eth_call', [{ from: session.address, ...call }, 'latest'])) as Hex;
  } catch (error) {
    if (session.signal?.aborted || isOutage(error)) throw error;
    const reason = describeRevert(error);
    throw new Stop('contract_reverted', `The contract would refuse this: ${reason}.`, {
      cause: error,
      details: { reason },
    });
  }
}

/** Gives the hash of what the wallet has sent, and tells it before anything else can go wrong. */
export async function sendTransaction(session: Session, { to, data }: Call): Promise<Hex> {
  // The chain id lets a wallet that was switched meanwhile refuse by itself.
  const chainId = `0x${session.chainId.toString(16)}`;
  const from = session.address;
  const nonce = await readNode(session, 'eth_getTransactionCount', [from, 'pending']).catch(() => null);
  const request = { from, to, data, value: '0x0', chainId };
  const hash = await askOwner(session, 'eth_sendTransaction', [request]);
  if (typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/i.test(hash))
    throw new Stop('wallet_error', 'The wallet did not tell which transaction it has sent.');
  const sent = hash.toLowerCase() as Hex;
  if (nonce !== null)
    session.sent.set(sent, { hash: sent, from, to, nonce: nonce as Hex, input: data, value: '0x0' });
  session.tell(sent);
  return sent;
}
