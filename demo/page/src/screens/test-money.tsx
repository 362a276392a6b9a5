import { CHAINS, type OfferDetails } from '@causeway/sdk';
import { useInvalidate, useWallet } from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { type ChainConfig, postJson } from '../config.ts';

const TOKENS_PER_REQUEST = 10_000n;
/** One unit of each chain's native currency. */
const GAS = { ethereum: 10n ** 18n, solana: 10n ** 9n } as const;
type Token = ChainConfig['tokens'][number];

/** Sends test dollars and gas to an address on one chain. */
async function fundWallet(chain: ChainConfig, address: string, tokens: readonly Token[]): Promise<void> {
  const url = `/sandbox/chains/${chain.chain}/faucet`;
  await postJson(url, { address, amount: GAS[CHAINS[chain.chain].protocol].toString() });
  for (const { asset_id, decimals } of tokens)
    await postJson(url, {
      address,
      asset_id,
      amount: (TOKENS_PER_REQUEST * 10n ** BigInt(decimals)).toString(),
    });
}

type Faucet = { canFund: boolean; isBusy: boolean; message: string; fund(): Promise<void> };

/** Funds the connected wallets with these assets on every chain of their protocol. */
export function useFaucet(chains: readonly ChainConfig[], assetIds: readonly string[]): Faucet {
  const wallets = useWallets();
  const invalidate = useInvalidate();
  const [state, setState] = useState({ isBusy: false, message: '' });
  const fund = async () => {
    setState({ isBusy: true, message: '' });
    try {
      for (const chain of chains) {
        const address = wallets[CHAINS[chain.chain].protocol]?.address;
        const tokens = chain.tokens.filter(({ asset_id }) => assetIds.includes(asset_id));
        if (address !== undefined) await fundWallet(chain, address, tokens);
      }
      invalidate('tokenBalance');
      setState({ isBusy: false, message: 'Test money added.' });
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
    }
  };
  const hasWallet = chains.some(({ chain }) => wallets[CHAINS[chain].protocol] !== undefined);
  return { ...state, canFund: hasWallet && !state.isBusy, fund };
}

function useWallets() {
  return { ethereum: useWallet('ethereum').wallet, solana: useWallet('solana').wallet };
}

export function FaucetButton({ faucet: { canFund, isBusy, fund } }: { faucet: Faucet }) {
  return (
    <button type="button" className="button" disabled={!canFund} onClick={fund}>
      {isBusy ? 'Sending…' : 'Get test money'}
    </button>
  );
}

/** Gets test money for the connected wallet, in the offer's currencies. */
export function TestMoneyBar({ offer }: { offer: OfferDetails }) {
  const { config } = useApp();
  const wallets = useWallets();
  const available = config.chains.filter(({ chain }) =>
    offer.contracts.some((contract) => contract.chain === chain),
  );
  const funded = available.filter(({ chain }) => wallets[CHAINS[chain].protocol] !== undefined);
  const chains = funded.length > 0 ? funded : available;
  const assets = offer.funding_assets;
  const faucet = useFaucet(
    chains,
    assets.map(({ id }) => id),
  );
  const codes = assets
    .filter(({ id }) => chains.some(({ tokens }) => tokens.some(({ asset_id }) => asset_id === id)))
    .map(({ code }) => code);
  if (chains.length === 0) return null;
  return (
    <aside className="faucet">
      <div>
        <strong>Test money</strong>
        <p className="soft">
          {funded.length === 0
            ? 'Connect a wallet to get test money.'
            : `${TOKENS_PER_REQUEST.toLocaleString('en')} ${codes.join(' and ')} on ${chains.map(({ chain }) => CHAINS[chain].name).join(' and ')}, plus gas.`}
        </p>
      </div>
      <FaucetButton faucet={faucet} />
      <p role="status" className="faucet-message">
        {faucet.message}
      </p>
    </aside>
  );
}
