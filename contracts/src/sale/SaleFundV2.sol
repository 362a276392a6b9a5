// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISaleFundV2} from "./ISaleFundV2.sol";
import {SaleFundBase} from "./SaleFundBase.sol";

/// @notice See `ISaleFundV2`.
contract SaleFundV2 is ISaleFundV2, SaleFundBase {
    uint256 public constant VERSION = 2;

    bytes4 private constant ERC165 = 0x01ffc9a7;
    bytes32 private constant REMITTED = bytes32(uint256(1));

    /// @dev The state of each id: zero before the commit, then the hash of the committed row (cheaper to store than the
    /// row), and `REMITTED` after the refund, so that the id stays used up.
    mapping(bytes32 id => bytes32) private _commitments;

    constructor(address owner, bytes32 id_, uint256 minCommit_) SaleFundBase(owner, id_, minCommit_) {}

    function commit(Row calldata row) external onlyRoles(COMMIT) running(COMMIT) nonReentrant {
        _commit(row);
    }

    function commit(Row[] calldata rows) external onlyRoles(COMMIT) running(COMMIT) nonReentrant {
        uint256 failed;
        for (uint256 i; i < rows.length; ++i) {
            _checkRowGas();
            try this.commitRow{gas: ROW_GAS}(rows[i]) {}
            catch {
                ++failed;
                Row calldata row = rows[i];
                emit BatchFail(0, row.id, row.user, row.option, row.token, row.amount);
            }
        }
        emit Batched(0, rows.length - failed, failed);
    }

    /// @dev Commits one row of a batch. Only this contract may call it. The separate call lets a failure roll back only
    /// this row.
    function commitRow(Row calldata row) external {
        if (msg.sender != address(this)) revert Unauthorized();
        _commit(row);
    }

    function remit(Row calldata row) external onlyRoles(REMIT) running(REMIT) nonReentrant {
        _remit(row);
    }

    function remit(Row[] calldata rows) external onlyRoles(REMIT) running(REMIT) nonReentrant {
        for (uint256 i; i < rows.length; ++i) {
            _remit(rows[i]);
        }
        emit Batched(1, rows.length, 0);
    }

    function isCommitted(bytes32 id_) external view returns (bool) {
        return _commitments[id_] != 0;
    }

    function isRemitted(bytes32 id_) external view returns (bool) {
        return _commitments[id_] == REMITTED;
    }

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == ERC165 || interfaceId == type(ISaleFundV2).interfaceId;
    }

    function _commit(Row calldata row) private {
        _checkCommit(row.user, row.amount);
        if (_commitments[row.id] != 0) revert AlreadyCommitted(row.id);
        _commitments[row.id] = _digest(row);
        _addCommit(row.user, row.option, row.token, row.amount);
        emit Committed(row.id, row.user, row.option, row.token, row.amount);
        if (!_tryPull(row.token, row.user, row.amount)) revert CommitFailed(row.id);
    }

    function _remit(Row calldata row) private {
        bytes32 commitment = _commitments[row.id];
        if (commitment == REMITTED) revert AlreadyRemitted(row.id);
        if (commitment != _digest(row)) revert NotCommitted(row.id);
        _commitments[row.id] = REMITTED;
        _addRemit(row.user, row.option, row.token, row.amount);
        emit Remitted(row.id, row.user, row.option, row.token, row.amount);
        if (!_tryPay(row.token, row.user, row.amount)) revert RemitFailed(row.id);
    }

    function _digest(Row calldata row) private pure returns (bytes32) {
        return keccak256(abi.encode(row));
    }
}
