import { printRow } from './compare.ts';
import { startTarget } from './target.ts';
import type { Settled } from './targets/settlement.ts';
import type { SettlementChain } from './targets/settlement-chain.ts';

// Settles 10,000 participations of as many wallets with Ethereum's timing: a block every 12 s, and a commit is final 32
// blocks later. `npm run bench -- settlement 500` settles fewer, with blocks on demand: it shows the gas, not the speed.

const wallets = Number(process.argv[2] ?? 10_000);
const timing = wallets === 10_000 ? { blockMs: 12_000, confirmations: 32 } : { blockMs: 0, confirmations: 1 };
const chain = await startTarget<SettlementChain>('settlement-chain', { wallets, blockMs: timing.blockMs });
const { gas, seconds } = await startTarget<Settled>('settlement', { ...chain, ...timing });
const work = `settlement of ${wallets.toLocaleString('en')} participations, a block every ${timing.blockMs / 1000} s`;
printRow(work, `${(wallets / seconds).toFixed(1)} rows/s`, '≥ 12 rows/s');
const measured = `${(gas / chain.singleGas).toFixed(2)}× (${Math.round(gas)} and ${Math.round(chain.singleGas)})`;
printRow('gas per participation', measured, '≤ 0.60×', 'one transaction per participation');
