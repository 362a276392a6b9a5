import { CHAINS } from '@causeway/sdk';
import { useInvalidate, useWallet } from '@causeway/sdk/react';
import { useApp } from '../app-context.tsx';
import { useControl } from './control.tsx';
import { fundWallet, TOKENS_PER_REQUEST } from './faucet.ts';

const LIST = new Intl.ListFormat('en-GB');

/** Funds the connected wallets with dollars and gas, on every chain of their protocol. */
export function TestMoney() {
  const { config } = useApp();
  const wallets = { ethereum: useWallet('ethereum').wallet, solana: useWallet('solana').wallet };
  const invalidate = useInvalidate();
  const { isBusy, message, run } = useControl();
  const funded = config.chains.filter(({ chain }) => wallets[CHAINS[chain].protocol] !== undefined);
  const fund = async () => {
    await Promise.all(
      funded.map((chain) => fundWallet(chain, wallets[CHAINS[chain.chain].protocol]?.address ?? '')),
    );
    invalidate('tokenBalance');
  };
  return (
    <>
      <p className="soft">
        {funded.length === 0
          ? 'Connect a wallet to get test money.'
          : `${TOKENS_PER_REQUEST.toLocaleString('en')} USDC and USDT, plus gas, on ${LIST.format(funded.map(({ chain }) => CHAINS[chain].name))}.`}
      </p>
      <button
        type="button"
        className="button small main"
        disabled={funded.length === 0 || isBusy}
        onClick={() => run(fund, 'Test money added.')}
      >
        {isBusy ? 'Sending…' : 'Get test money'}
      </button>
      <p role="status" className="faucet-message">
        {message}
      </p>
    </>
  );
}
