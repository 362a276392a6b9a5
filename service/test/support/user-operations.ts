import { concatHex, encodeFunctionData, type Hex, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { TestChain } from './chain.ts';
import { DEPLOYER, ENTRY_POINT_8, loadArtifacts } from './contract-wallets.ts';

/** The transaction that deploys `DEPLOYER` at the same address on every chain, and its sender. */
const DEPLOYER_TRANSACTION =
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222';
const DEPLOYER_SENDER = '0x3fAB184622Dc19b6109349B94811493BF2a45362';

/**
 * Deploys the ERC-4337 entry point at its canonical address. Returns a function that makes a wallet call a contract:
 * the wallet signs a user operation, and a bundler submits it. The wallet must be delegated to `Simple7702Account`.
 * The function returns the hash of the bundler's transaction.
 */
export async function startBundler({ direct, owner }: TestChain) {
  const artifacts = await loadArtifacts();
  const { bytecode, abi } = artifacts.entryPoint;
  await owner.sendTransaction({ to: DEPLOYER_SENDER, value: 10n ** 16n, gas: 21_000n });
  await direct.sendRawTransaction({ serializedTransaction: DEPLOYER_TRANSACTION });
  const creation = concatHex([ENTRY_POINT_8.salt, bytecode]);
  await owner.sendTransaction({ to: DEPLOYER, data: creation, gas: 10_000_000n });

  return async (wallet: { key: Hex }, to: Hex, data: Hex): Promise<Hex> => {
    const account = privateKeyToAccount(wallet.key);
    const entryPoint = { address: ENTRY_POINT_8.address, abi };
    const nonce = await direct.readContract({
      ...{ ...entryPoint, functionName: 'getNonce', args: [account.address, 0n] },
    });
    const unsigned = {
      ...{ sender: account.address, nonce, initCode: '0x', paymasterAndData: '0x' },
      callData: encodeFunctionData({
        ...{ abi: artifacts.simple7702.abi, functionName: 'execute', args: [to, 0n, data] },
      }),
      accountGasLimits: pack(200_000n, 200_000n),
      preVerificationGas: 100_000n,
      gasFees: pack(10n ** 9n, 10n ** 10n),
    };
    const hash = (await direct.readContract({
      ...{ ...entryPoint, functionName: 'getUserOpHash', args: [{ ...unsigned, signature: '0x' }] },
    })) as Hex;
    const operation = { ...unsigned, signature: await account.sign({ hash }) };
    const args = [[operation], owner.account.address];
    return owner.writeContract({ ...entryPoint, functionName: 'handleOps', args, gas: 2_000_000n });
  };
}

function pack(first: bigint, second: bigint): Hex {
  return concatHex([numberToHex(first, { size: 16 }), numberToHex(second, { size: 16 })]);
}
