import { parseTransaction } from '@causeway/sandbox/simulators/solana/wire-transaction.ts';
import { showHash } from '@causeway/service/chain/address.ts';
import { associatedAccount } from '@causeway/service/chain/solana/addresses.ts';
import { setLamports, setTokenAccount } from '../../service/test/support/solana-accounts.ts';
import { startSolanaChain } from '../../service/test/support/solana-chain.ts';
import { approveChecked, MINT } from '../../service/test/support/solana-instructions.ts';
import { FUND, signTransaction, solanaKey, UNIT } from '../../service/test/support/solana-sale.ts';

/** A wallet that has approved a payment of one dollar. */
export type ApprovedWallet = { address: string; source: string; signature: string };

/** Slot time and finality as on the public networks. */
const SLOT_MS = 400;
const FINALITY_SLOTS = 31;

// The chain runs in its own process, so that its CPU time is not counted as the service's.
const [count = 1_000] = process.argv.slice(2).map(Number);
const solana = await startSolanaChain({ slotMs: 0, finalityLag: FINALITY_SLOTS });
const { chain } = solana;
chain.mine(2 * FINALITY_SLOTS);
const approvals = Array.from({ length: count }, (_, i): ApprovedWallet => {
  const key = solanaKey(`bench ${i}`);
  const source = associatedAccount(key.address, MINT);
  setLamports(solana, key.address);
  setTokenAccount(solana, source, key.address, UNIT);
  const approval = approveChecked(source, MINT, FUND, key.address, UNIT);
  const raw = signTransaction(chain.timeline.blockhash(chain.slots().processed), key, [approval]);
  chain.submit(parseTransaction(raw));
  return { address: key.address, source, signature: showHash(raw.subarray(1, 65)) };
});
chain.mine(FINALITY_SLOTS + 1);
chain.setSlotMs(SLOT_MS);
process.send?.({ url: solana.nodes[0]?.url, approvals });
