import { CHAINS, type OfferDetails } from '@causeway/sdk';
import { useInvalidate, useWallet } from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { type ChainConfig, postJson } from '../config.ts';

const WHOLE = 10_000n;
type Token = ChainConfig['tokens'][number];

/** Test dollars and gas for an address, on one chain. */
export async function fillFrom(chain: ChainConfig, address: string, tokens: readonly Token[]): Promise<void> {
  const url = `/sandbox/chains/${chain.chain}/faucet`;
  await postJson(url, { address, amount: (10n ** 18n).toString() });
  for (const { asset_id, decimals } of tokens)
    await postJson(url, { address, asset_id, amount: (WHOLE * 10n ** BigInt(decimals)).toString() });
}

export function useFaucet() {
  const [state, setState] = useState<{ isBusy: boolean; said: string }>({ isBusy: false, said: '' });
  const invalidate = useInvalidate();
  const fill = async (chains: readonly ChainConfig[], address: string, assetIds: readonly string[]) => {
    setState({ isBusy: true, said: '' });
    try {
      for (const chain of chains)
        await fillFrom(
          chain,
          address,
          chain.tokens.filter(({ asset_id }) => assetIds.includes(asset_id)),
        );
      invalidate('tokenBalance');
      setState({ isBusy: false, said: 'The money has arrived.' });
    } catch (error) {
      setState({ isBusy: false, said: `It did not work: ${(error as Error).message}` });
    }
  };
  return { ...state, fill };
}

/** Test money for the wallet in use, in the currencies of the offer. */
export function FaucetBar({ offer }: { offer: OfferDetails }) {
  const { config } = useApp();
  const { wallet } = useWallet('ethereum');
  const { isBusy, said, fill } = useFaucet();
  const chains = config.chains.filter(({ chain }) =>
    offer.contracts.some((contract) => contract.chain === chain),
  );
  const assets = offer.funding_assets;
  if (chains.length === 0) return null;
  return (
    <aside className="faucet">
      <div>
        <strong>Test money</strong>
        <p className="soft">
          {wallet === undefined
            ? 'Connect a wallet, and the sandbox fills it.'
            : `${WHOLE.toLocaleString('en')} ${assets.map(({ code }) => code).join(' and ')} on ${chains.map(({ chain }) => CHAINS[chain].name).join(' and ')}, and gas.`}
        </p>
      </div>
      <button
        type="button"
        className="button"
        disabled={wallet === undefined || isBusy}
        onClick={() =>
          wallet &&
          fill(
            chains,
            wallet.address,
            assets.map(({ id }) => id),
          )
        }
      >
        {isBusy ? 'On its way…' : 'Get test money'}
      </button>
      <p role="status" className="faucet-said">
        {said}
      </p>
    </aside>
  );
}
