import { createEvm } from '@causeway/sandbox/simulators/chains/evm.ts';
import { createPublicClient, custom, domainSeparator, hashStruct, hashTypedData } from 'viem';
import { expect, it } from 'vitest';
import { venueManager } from '../../abi/venue-manager.ts';
import { startChain } from '../chain.ts';
import { deployVenue, marketId, quoteTypes, signerRole, venueDomain } from './venue.ts';

const ethereum = { chainId: 1, manager: '0x2c158BC456e027b2AfFCCadF1BDBD9f5fC4c5C8c' } as const;
const bnb = { chainId: 56, manager: '0x91f8Aff3738825e8eB16FC6f6b1A7A4647bDB299' } as const;

// The sample quote from the venue's documentation.
const sample = {
  chainId: 1n,
  attestationId: 229852750420835981756873903928305653446n,
  userId: '0x474d0000000000009310097834e2c7af00000000000000000000000000000000',
  asset: '0x14c3abf95cb9c93a8b82c1cdcb76d72cb87b2d4c',
  price: 225273151158540753535n,
  quantity: 5000000000000000000n,
  expiration: 1746655938n,
  side: 0,
  additionalData: `0x${'00'.repeat(32)}`,
} as const;
const structHash = '0x7dc9a78d3925e19b514ae8e2ce187d0c0ba63e914d26c37d5ff5c4c5d6fbfa83';
const digest = '0xca9f46dd275ab515002ba99d7713d50ae66132cc88a1853cd56f76f3bef50b9e';

/** Starts a chain with our compiled manager at the address of the venue's deployed manager. */
async function startImpersonating({ chainId, manager }: { chainId: number; manager: `0x${string}` }) {
  const chain = await startChain();
  const { manager: ours } = await deployVenue(chain);
  const code = (await chain.client.getCode(ours)) ?? '0x';
  const evm = await createEvm({ chainId, contracts: [{ address: manager, code }] });
  const client = createPublicClient({ transport: custom(evm) });
  return { client, manager: { address: manager, abi: venueManager.abi } };
}

it.each([
  { ...ethereum, separator: '0xe366cab15d2bf3f9f295fa4d4f299170e44e971d8e7f1808dfef3c453692222c' },
  { ...bnb, separator: '0x744b6843cda8f424167a1df41a9d55a84be12a5a07046354dc532354c46f9a24' },
])('the domain separator matches the deployed manager on chain $chainId', async ({ separator, ...where }) => {
  const { client, manager } = await startImpersonating(where);
  expect(await client.readContract({ ...manager, functionName: 'getDomainSeparator' })).toBe(separator);
  expect(domainSeparator({ domain: venueDomain(where.chainId, where.manager) })).toBe(separator);
});

it("the vendor's sample quote hashes to the vendor's digest", async () => {
  const { client, manager } = await startImpersonating(ethereum);
  expect(await client.readContract({ ...manager, functionName: 'hashQuote', args: [sample] })).toBe(digest);
  const typed = { types: quoteTypes, primaryType: 'Quote', message: sample } as const;
  expect(hashTypedData({ domain: venueDomain(1, ethereum.manager), ...typed })).toBe(digest);
  expect(hashStruct({ data: sample, primaryType: 'Quote', types: quoteTypes })).toBe(structHash);
  expect((sample.quantity * sample.price) / 10n ** 18n).toBe(1126365755792703767675n);
});

it('the constants match the deployed managers', async () => {
  const chain = await startChain();
  const { manager } = await deployVenue(chain);
  const read = (functionName: 'QUOTE_TYPEHASH' | 'ATTESTATION_SIGNER_ROLE' | 'gmIdentifier') =>
    chain.client.readContract({ ...manager, functionName });
  expect(await read('QUOTE_TYPEHASH')).toBe(
    '0xaa6d9093095fdf69cb4e18b3e4053e238ec6e2d5a083964634b640da3b8f44a4',
  );
  expect(await read('ATTESTATION_SIGNER_ROLE')).toBe(signerRole);
  expect(await read('gmIdentifier')).toBe(marketId);
});
