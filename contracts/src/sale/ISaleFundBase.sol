// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The part of the interface that both generations of sale funds share
interface ISaleFundBase {
    /// @notice A batch finished. `kind` is 0 for commits and 1 for remits.
    event Batched(uint256 kind, uint256 succeeded, uint256 failed);

    /// @notice The stop mask is now `level`.
    event Stopped(uint256 level);

    /// @notice The owner withdrew `amount` of `token` to `to`.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice The user is the zero address or the fund itself.
    error InvalidUser();

    /// @notice `amount` is zero or below `minimum`, the smallest commitment allowed.
    error InsufficientAmount(uint256 amount, uint256 minimum);

    /// @notice The batch's arrays differ in length.
    error NonEquivalentListLength();

    /// @notice Too little gas is left for the next row's full gas allowance, so the whole batch reverts.
    error InsufficientGas();

    /// @notice Commits or remits are stopped.
    error IsStopped();

    /// @notice Sets the stop mask: 2 stops commits, 4 stops remits, 0 resumes. Owner only.
    function stop(uint256 level) external;

    /// @notice Withdraws proceeds. Withdrawn funds can no longer be remitted. Owner only.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice This fund's balance of `token`.
    function fundingTokenBalance(address token) external view returns (uint256);

    /// @notice The amount of `token` that all users together have committed, minus the amount remitted.
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

    /// @notice The minimum amount of a single commit.
    function minCommit() external view returns (uint256);

    /// @notice The id given by the deployer.
    function id() external view returns (bytes32);

    /// @notice The kind of contract; 0 is a sale fund.
    function KIND() external view returns (uint256);

    function VERSION() external view returns (uint256);

    /// @notice The stop mask.
    function stopped() external view returns (uint256);
}
