'use client';

import { browserToken, createCauseway } from '@causeway/sdk';
import { CausewayProvider, Checkout, SignOutButton, useOffer } from '@causeway/sdk/react';
import { type ReactNode, useState } from 'react';

/** Provides the client to the components. The page calls the API with short-lived tokens from this app's own server. */
export function Investments({ baseUrl, children }: { baseUrl: string; children: ReactNode }) {
  const [client] = useState(() => createCauseway({ baseUrl, accessToken: browserToken() }));
  return <CausewayProvider client={client}>{children}</CausewayProvider>;
}

export function Invest({ slug }: { slug: string }) {
  const { data: offer } = useOffer(slug);
  return (
    <>
      <SignOutButton />
      {offer && <Checkout offer={offer} />}
    </>
  );
}
