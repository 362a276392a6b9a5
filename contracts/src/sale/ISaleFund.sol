// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Sale fund
/// @notice Holds the funds that users commit to the options of one token sale. The user only grants an ERC-20
/// approval; an operator then pulls the approved amount (`commit`) and may refund it (`remit`).
/// @dev An option is identified by the keccak-256 hash of its id's text.
interface ISaleFund {
    /// @notice Counts and sums of commits and remits, either of one user for one option and token or of one token.
    struct Totals {
        uint256 commitCount;
        uint256 commitSum;
        uint256 remitCount;
        uint256 remitSum;
    }

    /// @notice `amount` of `token` was pulled from `user` for `option`.
    event Committed(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice `amount` of `token` was refunded to `user` for `option`.
    event Remitted(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice One row of a batch failed and had no effect. `kind` 0 is a commit.
    event BatchFail(
        uint256 kind, address indexed user, bytes32 indexed option, address indexed token, uint256 amount
    );

    /// @notice A batch finished. `kind` 0 is a commit, 1 a remit.
    event Batched(uint256 kind, uint256 succeeded, uint256 failed);

    /// @notice The stop mask is now `level`.
    event Stopped(uint256 level);

    /// @notice The owner withdrew `amount` of `token` to `to`.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice The token rejected the transfer, or a different amount arrived.
    error CommitFailed(address user, bytes32 option, address token);

    /// @notice The token rejected the refund.
    error RemitFailed(address user, bytes32 option, address token);

    /// @notice The user is the zero address or the fund itself.
    error InvalidUser();

    /// @notice `amount` is zero or below `minimum`, the smallest commitment.
    error InsufficientAmount(uint256 amount, uint256 minimum);

    /// @notice The remit is zero or exceeds the outstanding commitment.
    error InsufficientCommitment(address user, bytes32 option, address token);

    /// @notice The arrays of a batch differ in length.
    error NonEquivalentListLength();

    /// @notice Not enough gas is left to give the next row its full allowance, so the whole batch reverts.
    error InsufficientGas();

    /// @notice Commits or remits are stopped.
    error IsStopped();

    /// @notice Pulls `amount` of `token` from `user`. Requires role 2.
    function commit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Commits row by row. A failed row emits `BatchFail` and does not affect the others. Requires role 2.
    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external;

    /// @notice Refunds `amount` of `token` to `user`, at most the outstanding commitment. Requires role 4.
    function remit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Refunds several users, all or none. Requires role 4.
    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts) external;

    /// @notice Sets the stop mask: 2 stops commits, 4 stops remits, 0 resumes. Owner only.
    function stop(uint256 level) external;

    /// @notice Withdraws proceeds. Withdrawn funds can no longer be remitted. Owner only.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice This fund's balance of `token`.
    function fundingTokenBalance(address token) external view returns (uint256);

    /// @notice The outstanding commitment of all users in `token`: committed and not remitted.
    function commitBalance(address token) external view returns (uint256);

    /// @notice The outstanding commitment of `user` for `option` in `token`.
    function commitBalance(address user, bytes32 option, address token) external view returns (uint256);

    function totals(address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum);

    function totals(address user, bytes32 option, address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum);

    /// @notice The smallest amount of a single commit.
    function minCommit() external view returns (uint256);

    /// @notice The id given by the deployer.
    function id() external view returns (bytes32);

    /// @notice The kind of contract; 0 is a sale fund.
    function KIND() external view returns (uint256);

    function VERSION() external view returns (uint256);

    /// @notice The stop mask.
    function stopped() external view returns (uint256);
}
