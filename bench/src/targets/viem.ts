import { fastify } from 'fastify';
import { createPublicClient, type Hex, http, parseAbi } from 'viem';
import { sepolia } from 'viem/chains';
import { readInput } from './input.ts';

const { rpcUrl } = await readInput<{ rpcUrl: string }>();
const abi = parseAbi([
  'function preview(address inputToken, uint256 amount) view returns (uint256 input, uint256 fee, uint256 output)',
]);
const client = createPublicClient({ chain: sepolia, transport: http(rpcUrl) });
const app = fastify();
app.get<{ Querystring: { contract_address: Hex; input_token: Hex; amount: string } }>(
  '/v1/swap/preview',
  async ({ query }) => {
    const [input, fee, output] = await client.readContract({
      ...{ address: query.contract_address, abi, functionName: 'preview' },
      args: [query.input_token, BigInt(query.amount)],
    });
    return {
      object: 'swap_preview',
      fee: fee.toString(),
      pay_input_amount: input.toString(),
      receive_output_amount: output.toString(),
    };
  },
);
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
