import { monitorEventLoopDelay } from 'node:perf_hooks';
import { signHash } from '@causeway/service/chain/evm/secp256k1.ts';
import { openChains } from '@causeway/service/chain/open-chains.ts';
import { createSignatures } from '@causeway/service/chain/signatures.ts';
import { type Hex, hashMessage, verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/**
 * This process measures how fast viem's verifier and ours verify signatures. Each of the `ROUNDS` rounds measures both,
 * one after the other, for `ROUND_MS` each. `CONCURRENCY` verifications run at a time.
 */
const ROUNDS = 5;
const ROUND_MS = 2_000;
const CONCURRENCY = 64;

const key: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const { address } = privateKeyToAccount(key);
const proofs = Array.from({ length: 200 }, (_, n) => {
  const text = `Sign this message to prove that you own this wallet.\n\nNonce: ${n}\n${'x'.repeat(300)}`;
  return { text, signature: signHash(key, hashMessage(text)) };
});

const { check } = createSignatures(openChains({ urls: {} }));
const checks = {
  viem: (text: string, signature: Hex) => verifyMessage({ address, message: text, signature }),
  ours: (text: string, signature: Hex) =>
    check({ chain: 'ethereum_mainnet', address: address.toLowerCase(), text, signature }).then(
      (kind) => kind !== null,
    ),
};

type Round = { perSecond: number; perCpuSecond: number; delayP99: number };

async function measure(
  verify: (text: string, signature: Hex) => Promise<boolean>,
  milliseconds: number,
): Promise<Round> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  let done = 0;
  const verifyProofs = async (offset: number) => {
    for (let n = offset; performance.now() - start < milliseconds; n += CONCURRENCY) {
      const proof = proofs[n % proofs.length];
      if (proof === undefined || !(await verify(proof.text, proof.signature)))
        throw new Error('a valid signature was rejected');
      done++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, offset) => verifyProofs(offset)));
  delay.disable();
  const { user, system } = process.cpuUsage(cpuStart);
  return {
    perSecond: (done * 1000) / (performance.now() - start),
    perCpuSecond: (done * 1e6) / (user + system),
    delayP99: delay.percentile(99) / 1e6,
  };
}

const rounds: Record<keyof typeof checks, Round[]> = { viem: [], ours: [] };
for (const verify of Object.values(checks)) await measure(verify, 1_000);
for (let round = 0; round < ROUNDS; round++)
  for (const name of ['viem', 'ours'] as const) rounds[name].push(await measure(checks[name], ROUND_MS));
// The event loop delay of an idle process, as a baseline.
const idle = await measure(() => new Promise((resolve) => setTimeout(resolve, 5, true)), ROUND_MS);
process.send?.({ ...rounds, idle: [idle] });
process.disconnect?.();
