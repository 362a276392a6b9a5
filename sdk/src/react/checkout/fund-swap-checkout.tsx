import { useState } from 'react';
import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails } from '../../wire.ts';
import { useSwapStatus, useWalletAuthorization } from '../hooks/use-swaps.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { BlockerNotice } from '../identity/blocker-notice.tsx';
import { useWalletBlockers } from '../identity/use-blockers.ts';
import { Empty, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { AllowWalletPanel } from '../wallets/allow-wallet-panel.tsx';
import { AmountField, DeploymentFields, SlippageField, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './flow-panel.tsx';
import { FundSummary, outputUnit } from './fund-summary.tsx';
import { FUND_SWAP_STEPS } from './phases.ts';
import { SwapDone } from './swap-done.tsx';
import { type Deployment, type DeploymentChoice, useDeployment } from './use-deployment.ts';
import { useFundPreview, useFundSwap } from './use-fund-swap.ts';

const STATUS_INTERVAL_MS = 20_000;
const SLIPPAGE_BPS_CHOICES = [10, 50, 100];
const DEFAULT_SLIPPAGE_BPS = 50;

export type FundSwapCheckoutProps = {
  offer: OfferDetails;
  /** Called when the swap is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * The checkout of a fund: requirements, allow-list, amount with a live preview, slippage, approval and swap.
 *
 * @example
 * ```tsx
 * import { FundSwapCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Swap() {
 *   const { data: offer } = useOffer('treasury-fund');
 *   return offer ? <FundSwapCheckout offer={offer} onDone={({ received }) => console.log(received)} /> : null;
 * }
 * ```
 */
export function FundSwapCheckout({ offer, onDone }: FundSwapCheckoutProps) {
  const option = offer.options[0];
  return (
    <section className="cw cw-card cw-checkout">
      <h2 className="cw-title">Swap into {offer.asset.code}</h2>
      {option === undefined ? (
        <Empty title="This fund isn't open yet" />
      ) : (
        <CheckoutGate offer={offer} optionId={option.id}>
          <FundForm offer={offer} onDone={onDone} />
        </CheckoutGate>
      )}
    </section>
  );
}

/** Shows the swap form once the fund is running and the wallet is allowed. */
function FundForm({ offer, onDone }: FundSwapCheckoutProps) {
  const choice = useDeployment(offer);
  const { deployment } = choice;
  const { wallet } = useWallet('ethereum');
  const contract = deployment && { contract_address: deployment.contract.address, chain: deployment.chain };
  const status = useSwapStatus(contract, { pollIntervalMs: STATUS_INTERVAL_MS });
  const authorization = useWalletAuthorization(
    contract && wallet && { ...contract, wallet_address: wallet.address },
  );
  const blockers = useWalletBlockers(offer.id, offer.options[0]?.id, deployment?.chain, wallet);
  if (deployment === undefined) return <Empty title="This fund isn't available on any network yet" />;
  const isStopped =
    status.data !== undefined && (BigInt(status.data.stopped) & BigInt(status.data.swap_level)) !== 0n;
  if (isStopped) return <FundStopped choice={choice} />;
  const error = status.error ?? authorization.error;
  return (
    <div className="cw-stack">
      {error !== undefined && status.data === undefined && (
        <ErrorNotice error={error} onRetry={() => void status.refresh()} />
      )}
      {wallet !== undefined && authorization.data?.authorized === true && blockers.length === 0 ? (
        <SwapForm key={`${deployment.chain} ${wallet.address}`} {...{ offer, choice, deployment, onDone }} />
      ) : (
        <>
          <DeploymentFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          {wallet !== undefined && authorization.data === undefined && <Skeleton height="7em" />}
          <BlockerNotice blockers={blockers} onProgress={() => undefined} />
          {wallet !== undefined && authorization.data?.authorized === false && blockers.length === 0 && (
            <AllowWalletPanel {...{ offer, wallet }} chain={deployment.chain} />
          )}
        </>
      )}
    </div>
  );
}

function FundStopped({ choice }: { choice: DeploymentChoice }) {
  return (
    <div className="cw-stack">
      <DeploymentFields choice={choice} disabled={false} />
      <div className="cw-notice cw-tone-attention" role="status">
        <p className="cw-notice-title">Swaps are paused</p>
        <p>The fund has paused swaps on this network. We'll update this page when they resume.</p>
      </div>
    </div>
  );
}

type FormProps = FundSwapCheckoutProps & { choice: DeploymentChoice; deployment: Deployment };

function SwapForm({ offer, choice, deployment, onDone }: FormProps) {
  const { wallet } = useWallet('ethereum');
  const [slippageBps, setSlippageBps] = useState(DEFAULT_SLIPPAGE_BPS);
  const [allowPartial, setAllowPartial] = useState(false);
  const { amount, limits, preview, output } = useFundPreview(deployment, wallet?.address);
  const { run, swap } = useFundSwap(offer, deployment, onDone);
  if (run.state.step === 'done')
    return (
      <SwapDone
        result={run.state.result}
        paid={deployment}
        received={outputUnit(offer, output)}
        onAgain={() => {
          amount.setText('');
          run.reset();
        }}
      />
    );
  const isPartial =
    preview.data !== undefined &&
    amount.units !== null &&
    BigInt(preview.data.pay_input_amount) + BigInt(preview.data.fee) < amount.units;
  const canSwap = amount.units !== null && preview.data !== undefined && (!isPartial || allowPartial);
  const startSwap = () => {
    if (amount.units === null || preview.data === undefined) return;
    swap({ units: amount.units, slippageBps, allowPartial, preview: preview.data });
  };
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSwap) startSwap();
      }}
    >
      {run.state.step === 'idle' && (
        <>
          <DeploymentFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          <AmountField {...{ amount, limits }} hasWallet disabled={false} />
          <SlippageField value={slippageBps} choices={SLIPPAGE_BPS_CHOICES} onChange={setSlippageBps} />
          <FundSummary {...{ offer, deployment, output, slippageBps }} preview={preview.data} />
          {preview.error !== undefined && (
            <ErrorNotice error={preview.error} onRetry={() => void preview.refresh()} />
          )}
          {isPartial && (
            <label className="cw-check">
              <input
                type="checkbox"
                checked={allowPartial}
                onChange={(event) => setAllowPartial(event.target.checked)}
              />
              The fund can only take part of this right now. Swap that part.
            </label>
          )}
          <button type="submit" className="cw-button cw-button-main cw-button-wide" disabled={!canSwap}>
            Swap
          </button>
        </>
      )}
      <FlowPanel run={run} steps={FUND_SWAP_STEPS} onRetry={startSwap} />
    </form>
  );
}
