import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Abi,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  getCreate2Address,
  type Hex,
  hashMessage,
  keccak256,
  serializeErc6492Signature,
  zeroAddress,
  zeroHash,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { TestChain } from './chain.ts';
import { installPackages } from './packages.ts';
import { evmWallet, type TestWallet } from './wallets.ts';

/** The canonical address of the ERC-4337 entry point, version 0.7. */
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';

const SAFE = '@safe-global/safe-contracts/build/artifacts/contracts';
const SAFE_4337 = '@safe-global/safe-4337/build/artifacts/contracts';
/** Contracts that deploy other contracts. Each has the same address on every chain. */
const SAFE_DEPLOYER = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7';
export const DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
/** The canonical ERC-4337 entry point, version 0.8. */
export const ENTRY_POINT_8 = {
  address: '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  salt: '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9',
} as const;

type Artifact = { abi: Abi; bytecode: Hex };

/**
 * Loads the compiled contracts from the official packages. Throws if a contract would not get its known address,
 * because that contract is then not the one that wallets use. The packages are installed only for this, because they
 * take up 60 MB with their dependencies.
 */
export async function loadArtifacts() {
  const require = createRequire(join(await installPackages('wallet-contracts'), 'package.json'));
  const load = (
    file: string,
    from: Hex,
    address: string,
    args: Hex = '0x',
    salt: Hex = zeroHash,
  ): Artifact => {
    const { abi, bytecode } = require(file) as Artifact;
    const found = getCreate2Address({ from, salt, bytecode: concatHex([bytecode, args]) });
    if (found !== address) throw new Error(`${file} is deployed at ${found}, not at ${address}`);
    return { abi, bytecode };
  };
  return {
    safe: load(`${SAFE}/Safe.sol/Safe.json`, SAFE_DEPLOYER, '0x41675C099F32341bf84BFc5382aF534df5C7461a'),
    factory: load(
      `${SAFE}/proxies/SafeProxyFactory.sol/SafeProxyFactory.json`,
      SAFE_DEPLOYER,
      '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
    ),
    handler: load(
      `${SAFE}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`,
      SAFE_DEPLOYER,
      '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
    ),
    module: load(
      `${SAFE_4337}/Safe4337Module.sol/Safe4337Module.json`,
      DEPLOYER,
      '0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226',
      encodeAbiParameters([{ type: 'address' }], [ENTRY_POINT]),
    ),
    moduleSetup: load(
      `${SAFE_4337}/SafeModuleSetup.sol/SafeModuleSetup.json`,
      DEPLOYER,
      '0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47',
    ),
    simple7702: load(
      '@account-abstraction/contracts/artifacts/Simple7702Account.json',
      DEPLOYER,
      '0xe6Cae83BdE06E4c305530e199D7217f42808555B',
    ),
    entryPoint: load(
      '@account-abstraction/contracts/artifacts/EntryPoint.json',
      DEPLOYER,
      ENTRY_POINT_8.address,
      '0x',
      ENTRY_POINT_8.salt,
    ),
  };
}

const accountOf = (name: string) => privateKeyToAccount(evmWallet(name).key);

type SafePlan = {
  initializer: Hex;
  /** Signs with as many owners as the threshold requires, in the order of their addresses. */
  signature(types: SafeTypes, message: Record<string, unknown>, safe: Hex): Promise<Hex>;
};

/** The typed data that Safe owners sign, for a message and for a call. */
const SAFE_MESSAGE = { SafeMessage: [{ name: 'message', type: 'bytes' }] };
const SAFE_TX = {
  SafeTx: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
    { name: 'operation', type: 'uint8' },
    ...['safeTxGas', 'baseGas', 'gasPrice'].map((name) => ({ name, type: 'uint256' })),
    { name: 'gasToken', type: 'address' },
    { name: 'refundReceiver', type: 'address' },
    { name: 'nonce', type: 'uint256' },
  ],
};
type SafeTypes = typeof SAFE_MESSAGE | typeof SAFE_TX;

const messageOf = (text: string) => ({
  message: encodeAbiParameters([{ type: 'bytes32' }], [hashMessage(text)]),
});

/** A deployed Safe. Anyone can submit a call that its owners have signed. */
export type SafeWallet = TestWallet & { address: Hex; execute(to: Hex, data: Hex): Promise<Hex> };

/** Deploys the wallet contracts and returns functions that create wallets. */
export async function publishWallets(chain: TestChain) {
  const { create, direct, owner } = chain;
  const artifacts = await loadArtifacts();
  const deploy = (artifact: Artifact) => create(artifact, [] as never);
  const singleton = await deploy(artifacts.safe);
  const factory = await deploy(artifacts.factory);
  const handler = await deploy(artifacts.handler);
  const module = await create(artifacts.module, [ENTRY_POINT] as never);
  const moduleSetup = await deploy(artifacts.moduleSetup);
  const simple7702 = await deploy(artifacts.simple7702);
  const chainId = await direct.getChainId();

  const setup = (
    owners: PrivateKeyAccount[],
    threshold: number,
    to: Hex,
    data: Hex,
    fallback: Hex,
  ): SafePlan => ({
    initializer: encodeFunctionData({
      abi: artifacts.safe.abi,
      functionName: 'setup',
      args: [
        owners.map(({ address }) => address),
        threshold,
        to,
        data,
        fallback,
        zeroAddress,
        0,
        zeroAddress,
      ],
    }),
    signature: async (types, message, safe) => {
      const signers = owners
        .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
        .slice(0, threshold);
      const signed = signers.map((signer) =>
        signer.signTypedData({
          domain: { chainId, verifyingContract: safe },
          ...{ types, primaryType: Object.keys(types)[0] ?? '', message },
        } as never),
      );
      return concatHex(await Promise.all(signed));
    },
  });

  const creation = (initializer: Hex, salt: bigint) =>
    encodeFunctionData({
      abi: artifacts.factory.abi,
      functionName: 'createProxyWithNonce',
      args: [singleton, initializer, salt],
    });

  async function addressOf(initializer: Hex, salt: bigint): Promise<Hex> {
    const code = (await direct.readContract({
      address: factory,
      abi: artifacts.factory.abi,
      functionName: 'proxyCreationCode',
    })) as Hex;
    return getCreate2Address({
      from: factory,
      salt: keccak256(encodePacked(['bytes32', 'uint256'], [keccak256(initializer), salt])),
      bytecode: concatHex([code, encodeAbiParameters([{ type: 'address' }], [singleton])]),
    });
  }

  /** Deploys a two-of-three Safe. */
  async function safeWallet(name: string): Promise<SafeWallet> {
    const owners = [1, 2, 3].map((n) => accountOf(`${name} owner ${n}`));
    const plan = setup(owners, 2, zeroAddress, '0x', handler);
    const address = await addressOf(plan.initializer, 1n);
    const hash = await owner.sendTransaction({
      to: factory,
      data: creation(plan.initializer, 1n),
      gas: 5_000_000n,
    });
    await direct.waitForTransactionReceipt({ hash });
    if (((await direct.getCode({ address })) ?? '0x') === '0x') throw new Error('the Safe was not deployed');
    return {
      address,
      chain: 'ethereum_sepolia',
      sign: (text) => plan.signature(SAFE_MESSAGE, messageOf(text), address),
      execute: async (to, data) => {
        const safe = { address, abi: artifacts.safe.abi };
        const nonce = await direct.readContract({ ...safe, functionName: 'nonce' });
        const none = { operation: 0, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n };
        const call = { to, value: 0n, data, ...none, gasToken: zeroAddress, refundReceiver: zeroAddress };
        const signature = await plan.signature(SAFE_TX, { ...call, nonce }, address);
        const args = [...Object.values(call), signature];
        return owner.writeContract({ ...safe, functionName: 'execTransaction', args, gas: 500_000n });
      },
    };
  }

  /** Returns a counterfactual (not yet deployed) Safe with the ERC-4337 module. */
  async function undeployedWallet(name: string): Promise<TestWallet> {
    const enable = encodeFunctionData({
      abi: artifacts.moduleSetup.abi,
      functionName: 'enableModules',
      args: [[module]],
    });
    const plan = setup([accountOf(`${name} owner`)], 1, moduleSetup, enable, module);
    const address = await addressOf(plan.initializer, 2n);
    return {
      address,
      chain: 'ethereum_sepolia',
      sign: async (text) =>
        serializeErc6492Signature({
          address: factory,
          data: creation(plan.initializer, 2n),
          signature: await plan.signature(SAFE_MESSAGE, messageOf(text), address),
        }),
    };
  }

  /** Delegates an EOA to a contract (EIP-7702). */
  async function delegate(wallet: { key: Hex }, contract: Hex): Promise<void> {
    const account = privateKeyToAccount(wallet.key);
    const nonce = await direct.getTransactionCount({ address: account.address });
    const authorization = await account.signAuthorization({ contractAddress: contract, chainId, nonce });
    const hash = await owner.sendTransaction({
      to: zeroAddress,
      authorizationList: [authorization],
      gas: 500_000n,
    });
    await direct.waitForTransactionReceipt({ hash });
  }

  return { safeWallet, undeployedWallet, delegate, simple7702 };
}
