import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import {
  createPublicClient,
  createWalletClient,
  custom,
  type Hex,
  keccak256,
  parseAbiParameters,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia as viemSepolia } from 'viem/chains';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { roles, testWallets } from '../../seed/keys.ts';
import { type Chain, openChain } from './chain.ts';
import { deploy, planDeployment } from './deploy.ts';
import { EMBEDDED_CHAINS } from './embedded.ts';
import { chainGenesis, GENESIS_TIMESTAMP } from './genesis.ts';

const [sepolia, base] = EMBEDDED_CHAINS;
let folder: string;
const opened: Chain[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-deploy-'));
});
afterEach(async () => {
  for (const chain of opened.splice(0)) await chain.close();
  await rm(folder, { recursive: true });
});

async function open(name: string, { chainId }: { chainId: number } = sepolia) {
  const now = () => GENESIS_TIMESTAMP;
  const chain = await openChain({ genesis: chainGenesis(chainId), journalPath: join(folder, name), now });
  opened.push(chain);
  return { chain, reader: createPublicClient({ transport: custom(chain), cacheTime: 0 }) };
}

it('deploys every contract at its planned address', async () => {
  for (const embedded of EMBEDDED_CHAINS) {
    const { chain, reader } = await open(embedded.chain, embedded);
    const { steps, deployment } = planDeployment(embedded);
    await deploy(chain, embedded.chainId, steps);
    const { tokens, sale_funds, fund_swap, older_fund_swap, venue, multicall } = deployment;
    const addresses = [
      ...tokens.map(({ address }) => address),
      ...Object.values(sale_funds),
      fund_swap.address,
      older_fund_swap.address,
      multicall,
      ...(venue ? [venue.swap, venue.manager] : []),
    ];
    for (const address of addresses)
      expect(await reader.getCode({ address }), address).toMatch(/^0x[0-9a-f]{100}/);
    expect(
      await reader.readContract({
        abi: fundSwap.abi,
        address: fund_swap.address,
        functionName: 'outputToken',
      }),
    ).toBe(
      await reader.readContract({
        abi: fundSwap.abi,
        address: older_fund_swap.address,
        functionName: 'outputToken',
      }),
    );
  }
});

it('deploys the tokenized contracts on the first chain only', () => {
  expect(planDeployment(sepolia).deployment.venue).not.toBeNull();
  expect(planDeployment(base).deployment.venue).toBeNull();
});

it('resumes after a crash and ends at the same block', async () => {
  const { steps } = planDeployment(sepolia);
  const uninterrupted = await open('uninterrupted');
  await deploy(uninterrupted.chain, sepolia.chainId, steps);
  const resumed = await open('resumed');
  await deploy(resumed.chain, sepolia.chainId, steps.slice(0, 17));
  await deploy(resumed.chain, sepolia.chainId, steps);
  await deploy(resumed.chain, sepolia.chainId, steps);
  expect((await resumed.reader.getBlock()).hash).toBe((await uninterrupted.reader.getBlock()).hash);
});

it('funds the wallets and grants the roles', async () => {
  const { chain, reader } = await open('chain');
  const { steps, deployment } = planDeployment(sepolia);
  await deploy(chain, sepolia.chainId, steps);
  const wallet = (testWallets[0]?.address ?? '0x') as Hex;
  const usdc = deployment.tokens[0]?.address ?? '0x';
  const balance = { abi: token.abi, address: usdc, functionName: 'balanceOf', args: [wallet] } as const;
  expect(await reader.readContract(balance)).toBe(10n ** 12n);
  expect(await reader.getBalance({ address: wallet })).toBe(10n ** 20n);
  const manager = { abi: venueManager.abi, address: deployment.venue?.manager ?? '0x' } as const;
  const role = await reader.readContract({ ...manager, functionName: 'ATTESTATION_SIGNER_ROLE' });
  const held = { ...manager, functionName: 'hasRole', args: [role, roles.venueSigner.address] } as const;
  expect(await reader.readContract(held)).toBe(true);
  const block = {
    abi: multicall3.abi,
    address: deployment.multicall,
    functionName: 'getBlockNumber',
  } as const;
  expect(await reader.readContract(block)).toBe(BigInt(steps.length));
});

it('exports Solana keys as wallets do: 64 bytes in base58', () => {
  const solana = testWallets.filter(({ protocol }) => protocol === 'solana');
  expect(solana).toHaveLength(2);
  for (const { address, private_key } of solana) {
    expect(address).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    expect(private_key).toMatch(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/);
  }
});

it('lets an allowed wallet swap into the fund and buy a tokenized asset', async () => {
  const { chain, reader } = await open('chain');
  const { steps, deployment } = planDeployment(sepolia);
  await deploy(chain, sepolia.chainId, steps);
  const { fund_swap, older_fund_swap, venue, tokens } = deployment;
  const usdc = tokens[0]?.address ?? '0x';
  const user = privateKeyToAccount((testWallets[0]?.private_key ?? '0x') as Hex);
  const writer = createWalletClient({ account: user, chain: viemSepolia, transport: custom(chain) });
  const approve = (spender: Hex) =>
    writer.writeContract({
      address: usdc,
      abi: token.abi,
      functionName: 'approve',
      args: [spender, 10n ** 9n],
    });
  const balance = (address: Hex) =>
    reader.readContract({ address, abi: token.abi, functionName: 'balanceOf', args: [user.address] });

  for (const { address, output_token } of [fund_swap, older_fund_swap]) {
    const offer = keccak256(toHex('offer'));
    const permission = { wallet: user.address, offer, nonce: 0n, deadline: 4_000_000_000n };
    const signature = await roles.supplier.signTypedData({
      domain: {
        name: 'Causeway Fund Swap',
        version: '1',
        chainId: sepolia.chainId,
        verifyingContract: address,
      },
      types: {
        AllowWallet: parseAbiParameters(
          'address wallet, bytes32 offer, uint256 nonce, uint256 deadline',
        ) as never,
      },
      primaryType: 'AllowWallet',
      message: permission as never,
    });
    const swap = { address, abi: fundSwap.abi } as const;
    await writer.writeContract({
      ...swap,
      functionName: 'allow',
      args: [user.address, offer, permission.deadline, signature],
    });
    await approve(address);
    const before = await balance(output_token);
    await writer.writeContract({ ...swap, functionName: 'swap', args: [usdc, 10n ** 8n, 1n] });
    expect(await balance(output_token)).toBeGreaterThan(before);
  }

  const [asset] = venue?.assets ?? [];
  if (!venue || !asset) throw new Error('the first chain has no venue');
  const gross = 100_500_000n;
  const quote = {
    chainId: BigInt(sepolia.chainId),
    attestationId: 1n,
    userId: venue.user_id,
    asset: asset.address,
    price: BigInt(asset.price),
    quantity: (100n * 10n ** 36n) / BigInt(asset.price),
    expiration: 4_000_000_000n,
    side: 0,
    additionalData: keccak256('0x'),
  };
  const venueSignature = await roles.venueSigner.signTypedData({
    domain: {
      name: 'OndoGMTokenManager',
      version: '1',
      chainId: sepolia.chainId,
      verifyingContract: venue.manager,
    },
    types: {
      Quote: parseAbiParameters(
        'uint256 chainId, uint256 attestationId, bytes32 userId, address asset, uint256 price, uint256 quantity, uint256 expiration, uint8 side, bytes32 additionalData',
      ) as never,
    },
    primaryType: 'Quote',
    message: quote as never,
  });
  const operatorSignature = await roles.operator.signTypedData({
    domain: {
      name: venue.domain_name,
      version: '1',
      chainId: sepolia.chainId,
      verifyingContract: venue.swap,
    },
    types: {
      VerifyRequest: parseAbiParameters(
        'uint8 side, address inputToken, address outputToken, address sender, uint256 nonce, uint256 expiry, uint256 amount',
      ) as never,
    },
    primaryType: 'VerifyRequest',
    message: {
      side: 0,
      inputToken: usdc,
      outputToken: asset.address,
      sender: user.address,
      nonce: 0n,
      expiry: quote.expiration,
      amount: gross,
    } as never,
  });
  await approve(venue.swap);
  await writer.writeContract({
    address: venue.swap,
    abi: tokenizedSwap.abi,
    functionName: 'swap',
    args: [quote, venueSignature, usdc, gross, operatorSignature],
  });
  expect(await balance(asset.address)).toBe(quote.quantity);
});
