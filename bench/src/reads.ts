import { compare } from './compare.ts';
import { CHAIN, startSandbox } from './sandbox.ts';
import { startTarget, type Target } from './target.ts';

// 64 clients poll 20 previews of a swap on a chain that mines a block every two seconds. The peer calls viem for every
// request.

const BLOCK_INTERVAL_MS = 2_000;

const { url, stop, ...sandbox } = await startSandbox();
const overview = await sandbox.overview();
const { access_token: token } = await sandbox.issueTokens({ email: overview.users[0]?.email ?? '' });
const headers = { authorization: `Bearer ${token}` };
const fund = await fetch(`${url}/v1/offers/treasury-fund`, { headers });
const { contracts } = (await fund.json()) as {
  contracts: { chain: string; address: string; funding_tokens: { address: string }[] }[];
};
const swap = contracts.find(({ chain }) => chain === CHAIN);
const { chain, address, input } = {
  chain: CHAIN,
  address: swap?.address,
  input: swap?.funding_tokens[0]?.address,
};
const paths = Array.from(
  { length: 20 },
  (_, index) =>
    `/v1/swap/preview?chain=${chain}&contract_address=${address}&input_token=${input}&amount=${index + 1}000000`,
);
const { rpc_url: rpcUrl } = overview.chains.find((each) => each.chain === CHAIN) ?? {};
const mining = setInterval(() => void sandbox.mine(), BLOCK_INTERVAL_MS);
await compare('64 pollers of on-chain reads', {
  ours: { url, headers },
  peer: await startTarget<Target>('viem', { rpcUrl }),
  atLeast: 8,
  against: 'viem without batching',
  paths,
});
clearInterval(mining);
await stop();
