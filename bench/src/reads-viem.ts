import { fastify } from 'fastify';
import { createPublicClient, type Hex, http } from 'viem';
import { sepolia } from 'viem/chains';
import { previewAbi, readInput } from './reads-targets.ts';

// This process serves a route that calls viem for every request. The argument `multicall` turns on viem's batching.
const input = readInput();
const batch = process.argv[3] === 'multicall' ? { batch: { multicall: true } } : {};
const client = createPublicClient({ chain: sepolia, transport: http(input.rpcUrl), ...batch });

type Query = { contract_address: Hex; input_token: Hex; amount: string };

const app = fastify();
app.get<{ Querystring: Query }>('/v1/swap/preview', async ({ query }) => {
  const [input, fee, output] = await client.readContract({
    address: query.contract_address,
    abi: previewAbi,
    functionName: 'preview',
    args: [query.input_token, BigInt(query.amount)],
  });
  return {
    object: 'swap_preview',
    fee: fee.toString(),
    pay_input_amount: input.toString(),
    receive_output_amount: output.toString(),
  };
});
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
