import { browserToken, createCauseway } from '@causeway/sdk';
import { CausewayProvider, Checkout, SignOutButton, useOffer } from '@causeway/sdk/react';
import { createRoot } from 'react-dom/client';

const root = document.getElementById('checkout') as HTMLElement;
const { baseUrl = '', slug = '' } = root.dataset;
const causeway = createCauseway({ baseUrl, accessToken: browserToken() });

function Invest() {
  const { data: offer } = useOffer(slug);
  return (
    <>
      <SignOutButton />
      {offer && <Checkout offer={offer} />}
    </>
  );
}

createRoot(root).render(
  <CausewayProvider client={causeway}>
    <Invest />
  </CausewayProvider>,
);
