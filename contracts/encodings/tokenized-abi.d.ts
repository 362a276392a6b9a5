export declare const tokenizedSwapAbi: readonly [
  {
    readonly name: 'swap';
    readonly type: 'function';
    readonly stateMutability: 'nonpayable';
    readonly inputs: readonly [
      {
        readonly type: 'tuple';
        readonly components: readonly [
          {
            readonly type: 'uint256';
            readonly name: 'chainId';
          },
          {
            readonly type: 'uint256';
            readonly name: 'attestationId';
          },
          {
            readonly type: 'bytes32';
            readonly name: 'userId';
          },
          {
            readonly type: 'address';
            readonly name: 'asset';
          },
          {
            readonly type: 'uint256';
            readonly name: 'price';
          },
          {
            readonly type: 'uint256';
            readonly name: 'quantity';
          },
          {
            readonly type: 'uint256';
            readonly name: 'expiration';
          },
          {
            readonly type: 'uint8';
            readonly name: 'side';
          },
          {
            readonly type: 'bytes32';
            readonly name: 'additionalData';
          },
        ];
        readonly name: 'quote';
      },
      {
        readonly type: 'bytes';
        readonly name: 'venueSignature';
      },
      {
        readonly type: 'address';
        readonly name: 'token';
      },
      {
        readonly type: 'uint256';
        readonly name: 'amount';
      },
      {
        readonly type: 'bytes';
        readonly name: 'operatorSignature';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'uint256';
      },
    ];
  },
  {
    readonly name: 'totals';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [
      {
        readonly type: 'address';
        readonly name: 'user';
      },
      {
        readonly type: 'address';
        readonly name: 'input';
      },
      {
        readonly type: 'address';
        readonly name: 'output';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'uint256';
        readonly name: 'inputSum';
      },
      {
        readonly type: 'uint256';
        readonly name: 'feeSum';
      },
      {
        readonly type: 'uint256';
        readonly name: 'outputSum';
      },
      {
        readonly type: 'uint256';
        readonly name: 'count';
      },
    ];
  },
  {
    readonly name: 'fee';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [
      {
        readonly type: 'uint8';
        readonly name: 'side';
      },
      {
        readonly type: 'uint256';
        readonly name: 'amount';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'uint256';
        readonly name: 'fee';
      },
      {
        readonly type: 'uint256';
        readonly name: 'net';
      },
    ];
  },
  {
    readonly name: 'status';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [
      {
        readonly type: 'address';
        readonly name: 'asset';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'uint8';
        readonly name: 'state';
      },
      {
        readonly type: 'uint32';
        readonly name: 'flags';
      },
    ];
  },
  {
    readonly name: 'manager';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [];
    readonly outputs: readonly [
      {
        readonly type: 'address';
      },
    ];
  },
  {
    readonly name: 'operator';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [];
    readonly outputs: readonly [
      {
        readonly type: 'address';
      },
    ];
  },
  {
    readonly name: 'domainSeparator';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [];
    readonly outputs: readonly [
      {
        readonly type: 'bytes32';
      },
    ];
  },
  {
    readonly name: 'eip712Domain';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [];
    readonly outputs: readonly [
      {
        readonly type: 'bytes1';
        readonly name: 'fields';
      },
      {
        readonly type: 'string';
        readonly name: 'name';
      },
      {
        readonly type: 'string';
        readonly name: 'version';
      },
      {
        readonly type: 'uint256';
        readonly name: 'chainId';
      },
      {
        readonly type: 'address';
        readonly name: 'verifyingContract';
      },
      {
        readonly type: 'bytes32';
        readonly name: 'salt';
      },
      {
        readonly type: 'uint256[]';
        readonly name: 'extensions';
      },
    ];
  },
  {
    readonly name: 'Swapped';
    readonly type: 'event';
    readonly inputs: readonly [
      {
        readonly type: 'address';
        readonly name: 'user';
        readonly indexed: true;
      },
      {
        readonly type: 'address';
        readonly name: 'input';
        readonly indexed: true;
      },
      {
        readonly type: 'address';
        readonly name: 'output';
        readonly indexed: true;
      },
      {
        readonly type: 'uint256';
        readonly name: 'attestationId';
      },
      {
        readonly type: 'uint8';
        readonly name: 'side';
      },
      {
        readonly type: 'uint256';
        readonly name: 'inputAmount';
      },
      {
        readonly type: 'uint256';
        readonly name: 'fee';
      },
      {
        readonly type: 'uint256';
        readonly name: 'outputAmount';
      },
    ];
  },
];
export declare const venueManagerAbi: readonly [
  {
    readonly name: 'executedAttestationIds';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [
      {
        readonly type: 'uint256';
        readonly name: 'attestationId';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'bool';
      },
    ];
  },
  {
    readonly name: 'getDomainSeparator';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [];
    readonly outputs: readonly [
      {
        readonly type: 'bytes32';
      },
    ];
  },
  {
    readonly name: 'hasRole';
    readonly type: 'function';
    readonly stateMutability: 'view';
    readonly inputs: readonly [
      {
        readonly type: 'bytes32';
        readonly name: 'role';
      },
      {
        readonly type: 'address';
        readonly name: 'account';
      },
    ];
    readonly outputs: readonly [
      {
        readonly type: 'bool';
      },
    ];
  },
];
