import { createPublicClient, createWalletClient, custom, type Hex, hexToBytes, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { expect, it } from 'vitest';
import { createEvm } from './evm.ts';

const key: Hex = `0x${'11'.repeat(32)}`;
const account = privateKeyToAccount(key);
const reverting: Hex = '0x00000000000000000000000000000000000000aa';
// PUSH4 deadbeef, MSTORE, then REVERT with these four bytes.
const revertCode: Hex = '0x63deadbeef6000526004601cfd';

function create() {
  return createEvm({
    chainId: sepolia.id,
    accounts: [{ privateKey: key, balance: parseEther('1000') }],
    contracts: [{ address: reverting, code: revertCode }],
  });
}

function clients(evm: Awaited<ReturnType<typeof createEvm>>) {
  const transport = custom(evm);
  return {
    reader: createPublicClient({ chain: sepolia, transport, cacheTime: 0 }),
    writer: createWalletClient({ chain: sepolia, transport, account }),
  };
}

it('produces the same block hashes for the same transactions, whatever is read in between', async () => {
  const hashes = [];
  for (const withReads of [false, true]) {
    const { reader, writer } = clients(await create());
    for (let i = 0; i < 5; i++) {
      if (withReads) await reader.getBalance({ address: account.address, blockTag: 'pending' });
      await writer.sendTransaction({
        to: account.address,
        value: 1n,
        gas: 21_000n,
        nonce: i,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 1n,
      });
      if (withReads) await reader.estimateGas({ account, to: account.address });
    }
    hashes.push((await reader.getBlock()).hash);
  }
  expect(hashes[0]).toBe(hashes[1]);
});

it('reports a reverted call as nodes do: code 3 and the return data', async () => {
  const evm = await create();
  await expect(
    evm.request({ method: 'eth_call', params: [{ to: reverting }, 'latest'] }),
  ).rejects.toMatchObject({
    code: 3,
    data: '0xdeadbeef',
  });
});

it('advances one second per block unless the timestamp is set', async () => {
  const evm = await create();
  const { reader, writer } = clients(evm);
  const at = async () => Number((await reader.getBlock()).timestamp);
  const start = await at();
  for (const nonce of [0, 1, 2]) await writer.sendTransaction({ to: account.address, nonce, gas: 21_000n });
  expect(await at()).toBe(start + 3);
  await evm.request({ method: 'evm_setNextBlockTimestamp', params: [start + 100] });
  await evm.request({ method: 'evm_mine' });
  expect(await at()).toBe(start + 100);
  await evm.request({ method: 'evm_mine' });
  expect(await at()).toBe(start + 101);
});

it('delegates an account to a contract by EIP-7702', async () => {
  const { reader, writer } = clients(await create());
  const signer = privateKeyToAccount(generatePrivateKey());
  const authorization = await signer.signAuthorization({
    chainId: sepolia.id,
    nonce: 0,
    contractAddress: reverting,
  });
  const hash = await writer.sendTransaction({
    to: account.address,
    authorizationList: [authorization],
    gas: 100_000n,
  });
  await reader.waitForTransactionReceipt({ hash });
  const code = await reader.getCode({ address: signer.address });
  expect(hexToBytes(code ?? '0x').slice(0, 3)).toEqual(hexToBytes('0xef0100'));
});
