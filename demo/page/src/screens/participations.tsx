import { ParticipationsList, useOffers } from '@causeway/sdk/react';
import { Link, useTitle } from '../route.tsx';

export function ParticipationsScreen() {
  const { data: offers } = useOffers();
  useTitle('Investments');
  return (
    <>
      <div className="screen-head">
        <h1>Investments</h1>
        <p className="soft">
          What you have put into token sales, and how far each is. Funds and tokenized assets are in your
          wallet.
        </p>
      </div>
      <ParticipationsList
        hrefOf={(offerId) => `/offers/${offers?.find(({ id }) => id === offerId)?.slug ?? offerId}`}
        empty={
          <>
            You have not invested yet. <Link to="/offers">See the offers</Link>
          </>
        }
      />
    </>
  );
}
