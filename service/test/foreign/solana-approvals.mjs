import {
  createApproveCheckedInstruction,
  createApproveInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import {
  Connection,
  Keypair,
  PublicKey,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

// Sends one approval of each kind with web3.js and prints the transaction signatures.
const { url, seeds, mint, fund, amount } = JSON.parse(process.env.SETTINGS);
const connection = new Connection(url, 'confirmed');
const [mintKey, fundKey] = [new PublicKey(mint), new PublicKey(fund)];
const open = (seed) => {
  const owner = Keypair.fromSeed(Buffer.from(seed, 'hex'));
  return { owner, source: getAssociatedTokenAddressSync(mintKey, owner.publicKey) };
};

const APPROVALS = {
  legacy: async ({ owner, source }) => {
    const approval = createApproveCheckedInstruction(
      source,
      mintKey,
      fundKey,
      owner.publicKey,
      BigInt(amount),
      6,
    );
    const transaction = new Transaction().add(approval);
    const { blockhash } = await connection.getLatestBlockhash();
    transaction.recentBlockhash = blockhash;
    transaction.feePayer = owner.publicKey;
    transaction.sign(owner);
    return connection.sendRawTransaction(transaction.serialize());
  },
  versioned: async ({ owner, source }) => {
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: owner.publicKey,
      recentBlockhash: blockhash,
      instructions: [createApproveInstruction(source, fundKey, owner.publicKey, BigInt(amount))],
    }).compileToV0Message();
    const transaction = new VersionedTransaction(message);
    transaction.sign([owner]);
    return connection.sendTransaction(transaction);
  },
};

const signatures = {};
for (const [name, approve] of Object.entries(APPROVALS)) signatures[name] = await approve(open(seeds[name]));
console.log(JSON.stringify(signatures));
process.exit(0);
