import { createPublicClient, custom } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { multicall3 } from '../abi/multicall3.ts';
import { accounts, type Chain, encodeCall, revertData, send, startChain } from './chain.ts';
import { deployDollar, type Erc20 } from './tokens.ts';

const { alice, owner } = accounts;
const multicall = { address: '0xcA11bde05977b3631167028862bE2a173976CA11', abi: multicall3.abi } as const;
let chain: Chain;
let dollar: Erc20;

beforeAll(async () => {
  chain = await startChain();
  dollar = await deployDollar(chain);
  await send(chain, owner, { ...dollar, functionName: 'mint', args: [alice.address, 42n] });
});

const good = () => encodeCall({ ...dollar, functionName: 'balanceOf', args: [alice.address] });
const bad = '0xdeadbeef' as const;

describe('multicall', () => {
  it("serves viem's batched reads in one call and reports failures separately", async () => {
    const methods: string[] = [];
    const transport = custom({
      request: (args: { method: string; params?: unknown }) => {
        methods.push(args.method);
        return chain.evm.request(args);
      },
    });
    const { chain: definition } = chain.client;
    const client = createPublicClient({
      ...(definition ? { chain: definition } : {}),
      transport,
      batch: { multicall: true },
    });
    const [balance, decimals, failure] = await Promise.allSettled([
      client.readContract({ ...dollar, functionName: 'balanceOf', args: [alice.address] }),
      client.readContract({ ...dollar, functionName: 'decimals' }),
      client.readContract({ address: dollar.address, abi: multicall3.abi, functionName: 'getBasefee' }),
    ]);
    expect([balance, decimals]).toEqual([
      { status: 'fulfilled', value: 42n },
      { status: 'fulfilled', value: 6 },
    ]);
    expect(failure?.status).toBe('rejected');
    expect(methods).toEqual(['eth_call']);
  });

  it('returns the block that its results belong to', async () => {
    const [number, results] = await aggregate3([
      {
        target: multicall.address,
        allowFailure: false,
        callData: encodeCall({ ...multicall, functionName: 'getBlockNumber' }),
      },
      { target: dollar.address, allowFailure: true, callData: bad },
    ]).then((all) => [BigInt(all[0]?.returnData ?? '0x'), all] as const);
    expect(number).toBe(await chain.client.getBlockNumber());
    expect(results[1]).toEqual({ success: false, returnData: '0x' });
  });

  it('reverts with the canonical message if a required call fails', async () => {
    const calls = [{ target: dollar.address, allowFailure: false, callData: bad }];
    const data = await revertData(chain, alice, { ...multicall, functionName: 'aggregate3', args: [calls] });
    expect(Buffer.from(data.slice(2), 'hex').toString()).toContain('Multicall3: call failed');
  });

  it('supports the functions of earlier versions', async () => {
    const calls = [
      { target: dollar.address, callData: good() },
      { target: dollar.address, callData: bad },
    ];
    const simulate = async (functionName: 'tryAggregate' | 'tryBlockAndAggregate') =>
      (await chain.client.simulateContract({ ...multicall, functionName, args: [false, calls] })).result;
    expect(await simulate('tryAggregate')).toMatchObject([{ success: true }, { success: false }]);
    expect((await simulate('tryBlockAndAggregate'))[0]).toBe(await chain.client.getBlockNumber());
    const { result } = await chain.client.simulateContract({
      ...multicall,
      functionName: 'aggregate',
      args: [calls.slice(0, 1)],
    });
    expect(BigInt(result[1][0] ?? '0x')).toBe(42n);
    await revertData(chain, alice, { ...multicall, functionName: 'aggregate', args: [calls] });
    await revertData(chain, alice, { ...multicall, functionName: 'blockAndAggregate', args: [calls] });
  });

  it('returns block and chain data', async () => {
    const read = (functionName: 'getChainId' | 'getCurrentBlockTimestamp' | 'getCurrentBlockGasLimit') =>
      chain.client.readContract({ ...multicall, functionName });
    const block = await chain.client.getBlock();
    expect(await read('getChainId')).toBe(BigInt(chain.id));
    expect(await read('getCurrentBlockTimestamp')).toBe(block.timestamp);
    expect(await read('getCurrentBlockGasLimit')).toBe(block.gasLimit);
    expect(
      await chain.client.readContract({ ...multicall, functionName: 'getEthBalance', args: [alice.address] }),
    ).toBe(await chain.client.getBalance({ address: alice.address }));
    expect(await chain.client.readContract({ ...multicall, functionName: 'getBlockHash', args: [0n] })).toBe(
      (await chain.client.getBlock({ blockNumber: 0n })).hash,
    );
  });

  it('forwards exactly the value it receives', async () => {
    const calls = [{ target: alice.address, allowFailure: false, value: 5n, callData: '0x' as const }];
    const account = owner.address;
    const send5 = (value: bigint) =>
      chain.client.simulateContract({
        ...multicall,
        functionName: 'aggregate3Value',
        args: [calls],
        value,
        account,
      });
    expect((await send5(5n)).result).toEqual([{ success: true, returnData: '0x' }]);
    await expect(send5(6n)).rejects.toThrow('value mismatch');
  });
});

async function aggregate3(
  calls: { target: `0x${string}`; allowFailure: boolean; callData: `0x${string}` }[],
) {
  const { result } = await chain.client.simulateContract({
    ...multicall,
    functionName: 'aggregate3',
    args: [calls],
  });
  return result;
}
