import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openChains } from '@causeway/service/chain/evm/client.ts';
import { signHash } from '@causeway/service/chain/evm/secp256k1.ts';
import { createSignatures } from '@causeway/service/chain/signatures.ts';
import { type Hex, hashMessage, verifyMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Verification alone, in a process of its own: rounds of viem's and of ours in turn, many at once. */
const ROUNDS = 5;
const ROUND = 2_000;
const CONCURRENCY = 64;

const key: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const { address } = privateKeyToAccount(key);
const proofs = Array.from({ length: 200 }, (_, n) => {
  const text = `A partner asks you to prove that you own this wallet.\n\nNonce: ${n}\n${'x'.repeat(300)}`;
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

type Round = { perSecond: number; delayP99: number };

async function measure(
  verify: (text: string, signature: Hex) => Promise<boolean>,
  milliseconds: number,
): Promise<Round> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  let done = 0;
  const one = async (start: number) => {
    for (let n = start; performance.now() - begun < milliseconds; n += CONCURRENCY) {
      const proof = proofs[n % proofs.length];
      if (proof === undefined || !(await verify(proof.text, proof.signature)))
        throw new Error('a good signature was refused');
      done++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, start) => one(start)));
  delay.disable();
  return { perSecond: (done * 1000) / (performance.now() - begun), delayP99: delay.percentile(99) / 1e6 };
}

const rounds: Record<keyof typeof checks, Round[]> = { viem: [], ours: [] };
for (const verify of Object.values(checks)) await measure(verify, 1_000);
for (let round = 0; round < ROUNDS; round++)
  for (const name of ['viem', 'ours'] as const) rounds[name].push(await measure(checks[name], ROUND));
// What the machine itself does to a process that does nothing: delays above are to be read against it.
const idle = await measure(() => new Promise((resolve) => setTimeout(resolve, 5, true)), ROUND);
process.send?.({ ...rounds, idle: [idle] });
process.disconnect?.();
