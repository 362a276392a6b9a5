import { Suspense } from 'react';
import { requireUser } from '../../../causeway';
import { Invest, Investments } from '../../investments';

type Props = { params: Promise<{ slug: string }> };

export default function OfferPage({ params }: Props) {
  return (
    <main>
      <Suspense fallback={<p>Loading…</p>}>
        <Offer params={params} />
      </Suspense>
    </main>
  );
}

async function Offer({ params }: Props) {
  const { slug } = await params;
  await requireUser({ returnTo: `/offers/${slug}` });
  return (
    <Investments baseUrl={process.env.CAUSEWAY_URL ?? 'http://127.0.0.1:8080'}>
      <Invest slug={slug} />
    </Investments>
  );
}
