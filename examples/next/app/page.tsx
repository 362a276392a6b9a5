import { Suspense } from 'react';
import { getUser } from '../causeway';

export default function Home() {
  return (
    <main>
      <h1>Invest with Next</h1>
      <Suspense fallback={<p>Loading…</p>}>
        <Offers />
      </Suspense>
    </main>
  );
}

/** Reads the offers on the server, for the signed-in user. */
async function Offers() {
  const found = await getUser();
  if (found === undefined) return <a href="/causeway/sign-in?return_to=/">Sign in</a>;
  const { data } = await found.causeway.offers.list();
  return (
    <>
      <p>Signed in as {found.user?.email}</p>
      <ul>
        {data.map(({ id, slug }) => (
          <li key={id}>
            <a href={`/offers/${slug}`}>{slug}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
