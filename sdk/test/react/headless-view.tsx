import type { TokenSaleOffer } from '../../src/index.ts';
import { useOffer, useParticipations, useTokenSale, useWallet } from '../../src/react/index.ts';

/** Buys into a token sale using only the hook, next to a list that never polls. */
export function Headless() {
  const { data: offer } = useOffer('harbour-quarter');
  if (offer?.type !== 'platform::token_sale') return null;
  return (
    <>
      <HeadlessSale offer={offer} />
      <Beside />
    </>
  );
}

const onDone = () => {
  throw new Error('thrown by the test');
};

function HeadlessSale({ offer }: { offer: TokenSaleOffer }) {
  const optionId = offer.options.find(({ slug }) => slug === 'public')?.id;
  const { amount, canBuy, buy, state, participation, discard } = useTokenSale({ offer, optionId, onDone });
  const { wallet, connectors, connect } = useWallet('ethereum');
  const [connector] = connectors;
  return (
    <>
      <button type="button" hidden={wallet !== undefined} onClick={() => connector && connect(connector)}>
        Connect
      </button>
      <input
        aria-label="Dollars"
        value={amount.text}
        onChange={(event) => amount.setText(event.target.value)}
      />
      <button type="button" disabled={!canBuy} onClick={buy}>
        Buy
      </button>
      <button type="button" onClick={() => discard()}>
        Discard
      </button>
      <p id="step">{state.step}</p>
      <p id="sale">{participation?.status}</p>
    </>
  );
}

function Beside() {
  const { data = [] } = useParticipations();
  const shown = data.map(({ amount_string, status }) => `${amount_string} ${status}`);
  return <p id="beside">{shown.join(', ')}</p>;
}
